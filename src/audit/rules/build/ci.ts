import { anyOf } from '../../formats/words.ts';
import type { FileRule, JudgedText } from '../../judges/rule.ts';

export const ciRules: readonly FileRule[] = [
  {
    id: 'ci-workflow',
    family: 'ci',
    trigger: 'the next push or pull request',
    severity: 'suspect',
    paths: [
      '.github/workflows/**',
      '.github/actions/**',
      'action.y{,a}ml',
      '.github/scripts/**',
      '.gitlab-ci.y{,a}ml',
      '*.gitlab-ci.y{,a}ml',
      '.gitlab/**',
      '.circleci/**',
      'azure-pipelines*.y{,a}ml',
      '.azure-pipelines/**',
      'Jenkinsfile*',
      '*.jenkinsfile',
      '.travis.y{,a}ml',
      'bitbucket-pipelines.yml',
      '.drone.{yml,yaml,star,jsonnet}',
      '.woodpecker*',
      '.woodpecker/**',
      '{.,}appveyor.yml',
      'cloudbuild*.{yaml,yml,json}',
      'buildspec*.y{,a}ml',
      '.buildkite/**',
      '.teamcity/**',
      '.cirrus.{yml,star}',
      '.semaphore/**',
      'bitrise.yml',
      'codemagic.yaml',
      '.tekton/**',
      '.zuul.y{,a}ml',
      '.zuul.d/**',
      'zuul.yaml',
      '.builds/**',
      '.build.yml',
      '.prow/**',
      '.prow.yaml',
      '.ci/**',
      'ci/**',
      'wercker.yml',
      'screwdriver.yaml',
      '.harness/**',
      '.gocd.yaml',
      '.gitea/**',
      '.forgejo/**',
      '.onedev-buildspec.yml',
      '.vela.yml',
      '.scrutinizer.yml',
      'shippable.yml',
      '.pipelines/**',
      '.concourse/**',
      'concourse.yml',
      'codeship-*.yml',
      'Jenkins/**/{Jenkinsfile*,*.{groovy,jenkinsfile,dsl,xml,sh,bash,py,rb,pl,js,ts,ps1,bat,cmd}}',
      'Jenkins/{jenkins,casc*}.y{,a}ml',
      '.agola/**',
      '.sourcehut',
      '.evergreen.yml',
      '.packit.yaml',
      '.testing-farm.yaml',
      '.copr/**',
      '.nodeset.yml',
      'dagger.json',
      '.earthly/**',
      '.rwx/**',
      '.mint/**',
      '.depot/**',
      'atlantis.y{,a}ml',
    ],
    except: [
      '.github/workflows/README*',
      'ci/README.md',
      '.gitlab/issue_templates/**',
      '.gitlab/merge_request_templates/**',
      '.ci/README.md',
      '.{forgejo,gitea}/{ISSUE,PULL_REQUEST}_TEMPLATE/**',
    ],
    always: true,
    judges: [
      {
        kind: 'lines',
        danger: anyOf(
          /pull_request_target|workflow_run|issue_comment|permissions:|secrets|self-hosted|\brun:/i,
          /\$\{\{\s*github\.(event|head_ref)|\buses:|include:|image:|script|orbs?:|command|if:\s*false/i,
          /continue-on-error|allow_failure|schedule|environment:|token/i,
        ),
        safe: /uses:\s*[\w./-]+@[0-9a-f]{40}/,
      },
    ],
    why: 'The workflow runs with the secrets of the repository at the next push.',
    source: 'GitHub security hardening for Actions; documentation of the vendors',
  },
  {
    id: 'ci-bots',
    family: 'ci',
    trigger: 'the next run of the bot',
    severity: 'suspect',
    paths: [
      '.github/dependabot.y{,a}ml',
      '{.,}renovate{rc,}{,.json,.json5,.js}',
      '.github/renovate.json{,5}',
      '.mergify.yml',
      '.mergify/**',
      'bors.toml',
      '.kodiak.toml',
      'release-please-config.json',
      '.release-please-manifest.json',
      '.github/{settings,auto_assign,mergify,labeler,policies}*.y{,a}ml',
      '.bulldozer.yml',
      '.palantir.yml',
      '.pullapprove.yml',
      'prow_config.yaml',
      '.repo-metadata.json',
      '.asf.yaml',
      'sweep.yaml',
      '.coderabbit.y{,a}ml',
    ],
    judges: [
      {
        kind: 'lines',
        danger: anyOf(
          /insecure-external|registr|post(Upgrade|Update)?Tasks|automerge|merge|conditions|approv|extends/i,
          /allowedCommands|command|token|owner|@|branches|protect|required|plugins|package-ecosystem|host|url/i,
        ),
        safe: /^-?\s*"?(schedule|interval|day|time|timezone)"?\s*:/i,
        removed: /^[^#].*@|required|approv|protect|^OWNERS/i,
      },
    ],
    why: 'The file decides what is merged or fetched without a review.',
    source: 'Dependabot, Renovate and Mergify documentation',
  },
  {
    id: 'ci-owners',
    family: 'ci',
    trigger: 'the next pull request',
    severity: 'suspect',
    paths: ['CODEOWNERS', 'OWNERS', 'OWNERS_ALIASES'],
    judges: [{ kind: 'custom', see: ownersMoved }],
    why: 'The file decides whose approval a change needs.',
    source: 'GitHub, GitLab and Prow documentation',
  },
  {
    id: 'ci-contact',
    family: 'ci',
    trigger: 'reporting a vulnerability or sponsoring the project',
    severity: 'suspect',
    paths: [
      'FUNDING.y{,a}ml',
      'FUNDING.json',
      'SECURITY.md',
      'security.txt',
      'MAINTAINERS',
      '.github/ISSUE_TEMPLATE/config.yml',
    ],
    judges: [
      {
        kind: 'lines',
        danger: /^[\w-]+:\s*\S|@[\w-]+\.\w|https?:|mailto:|contact/i,
        removed: /@[\w-]+\.\w|mailto:|security\/advisories/i,
      },
    ],
    why: 'Money or reports go to the address that it names.',
    source: 'GitHub documentation',
  },
  {
    id: 'ci-scanners',
    family: 'ci',
    trigger: 'the next scan',
    severity: 'suspect',
    paths: [
      '.snyk',
      '.trivyignore*',
      'trivy.yaml',
      '.gitleaks.toml',
      '.gitleaksignore',
      '.secrets.baseline',
      '.semgrepignore',
      '.semgrep*.y{,a}ml',
      '.semgrep/**',
      '.bandit',
      'bandit.yaml',
      '.checkov.y{,a}ml',
      '.checkov.baseline',
      'sonar-project.properties',
      '{.,}codecov.y{,a}ml',
      '.github/codeql/**',
      'osv-scanner.toml',
      'audit-ci.json{,c}',
      '.nsprc',
      'deny.toml',
      '.hadolint.y{,a}ml',
      'zizmor.yml',
      '.github/zizmor.yml',
      '.grype.yaml',
      '.safety-policy.yml',
      'dependency-check*.xml',
      '.talismanrc',
      '.trufflehog*',
      '.tfsec/**',
      '.kics/**',
      '.secretlintrc*',
      '.secretlintignore',
      '.actionlint.y{,a}ml',
      '.lychee.toml',
      '.coverage-threshold*',
    ],
    judges: [
      { kind: 'lines', danger: /^[^#\s]/, removed: /threshold|fail|severity|rule|id\s*=/i },
      { kind: 'custom', see: ({ after }) => (after === undefined ? ['the settings of a check were removed'] : []) },
    ],
    why: 'The scanner checks less, or requires less.',
    source: 'documentation of the scanners',
  },
  {
    id: 'ci-ignore-files',
    family: 'ci',
    trigger: 'building an image, publishing a package, searching',
    severity: 'suspect',
    paths: [
      '.dockerignore',
      '.npmignore',
      '.gcloudignore',
      '.vscodeignore',
      '.helmignore',
      '.slugignore',
      '.ebignore',
      '.containerignore',
      '.cfignore',
      '.vercelignore',
      '.openapi-generator-ignore',
      '.jpmignore',
      '.nowignore',
    ],
    judges: [
      {
        kind: 'lines',
        removed: /\.env|\.pem|\.key|secret|credential|id_rsa|\.npmrc|\.git\b|\.aws|token|\.p12/i,
        danger: /^!.*(\.env|\.pem|\.key|secret|credential|id_rsa|\.npmrc|\.aws|token)/i,
      },
    ],
    why: 'A rule that kept secrets out of an image or package was removed.',
    source: 'Docker and npm documentation',
  },
];

/**
 * Owners that a path loses: of an entry that is deleted or lists fewer, and of an entry that a later one overrides. An
 * entry for a path that had none of its own, and a further owner of an entry, take nothing from anybody.
 */
function ownersMoved({ path, before = '', after = '', added, deleted }: JudgedText): string[] {
  const show = (text: string): string => text.slice(0, 120);
  const isComment = (text: string): boolean => /^[#[]/.test(text);
  if (!/(^|\/)codeowners$/i.test(path))
    return [...added(), ...deleted()].filter(({ text }) => !isComment(text)).map(({ text }) => show(text));
  const entriesOf = (text: string): [string, readonly string[]][] =>
    text.split(/[\r\n]+/).flatMap((line) => {
      const [pattern = '', ...owners] = line
        .replace(/\s#.*$/, '')
        .trim()
        .split(/\s+/);
      return pattern === '' || isComment(pattern) ? [] : [[pattern, owners]];
    });
  const old = new Map(entriesOf(before));
  const now = entriesOf(after);
  const last = new Map(now);
  const lost = [...old].filter(([pattern, owners]) =>
    owners.some((owner) => last.get(pattern)?.includes(owner) !== true),
  );
  const bare = (pattern: string): string => pattern.replace(/^\/|\/?\**$/g, '');
  const overriding = now.filter(
    ([pattern]) =>
      !old.has(pattern) &&
      (/^[*]|\*\*/.test(pattern) ||
        [...old.keys()].some((other) => bare(other) !== '' && `${bare(pattern)}/`.startsWith(`${bare(other)}/`))),
  );
  const isOrdered =
    [...old.keys()].join('\n') ===
    now
      .map(([pattern]) => pattern)
      .filter((one) => old.has(one))
      .join('\n');
  return [
    ...lost.map(([pattern]) => `${show(pattern)} has fewer owners`),
    ...overriding.map(([pattern]) => `${show(pattern)} overrides another entry`),
    ...(isOrdered ? [] : ['the order of the entries changed']),
  ];
}
