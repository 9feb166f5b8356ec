import { ANY_CHANGE, type JudgedText, type Rule } from '../../judges/rule.ts';
import { isWorkflow, movedPins, WORKFLOW_PATHS, workflowChanges } from './workflows/changes.ts';
import { HARMLESS_WORKFLOWS, otherCiChanges } from './workflows/other-services.ts';

export const ciRules: readonly Rule[] = [
  {
    id: 'ci-workflow',
    family: 'ci',
    when: 'the next push or pull request',
    severity: 'suspect',
    files: [
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
      '.bazelci/**',
      'atlantis.y{,a}ml',
      '!.github/workflows/README*',
      '!{.,}ci/**/{dictionary,words,wordlist,spelling}.txt',
      '!ci/README.md',
      '!.gitlab/issue_templates/**',
      '!.gitlab/merge_request_templates/**',
      '!.ci/README.md',
      '!.{forgejo,gitea}/{ISSUE,PULL_REQUEST}_TEMPLATE/**',
    ],
    look: [
      ANY_CHANGE,
      {
        kind: 'custom',
        see: (text) => (isWorkflow(text.path) ? workflowChanges(text) : otherCiChanges(text)),
      },
    ],
    harmless: ['comments', ...HARMLESS_WORKFLOWS],
    why: 'The workflow runs with the secrets of the repository at the next push.',
    source: 'GitHub security hardening for Actions; documentation of the vendors',
  },
  {
    id: 'ci-action-pin',
    title: 'Action pinned to another commit',
    family: 'ci',
    when: 'the next push or pull request',
    severity: 'suspect',
    files: WORKFLOW_PATHS,
    look: [{ kind: 'custom', see: movedPins }],
    why: 'The id may be that of a commit in any fork. Compare it with the release that the comment names.',
    source: 'GitHub security hardening for Actions',
  },
  {
    id: 'ci-owners',
    family: 'ci',
    when: 'the next pull request',
    severity: 'suspect',
    files: ['CODEOWNERS', 'OWNERS', 'OWNERS_ALIASES'],
    look: [{ kind: 'custom', see: ownersMoved }],
    why: 'The file decides whose approval a change needs.',
    source: 'GitHub, GitLab and Prow documentation',
  },
  {
    id: 'ci-contact',
    family: 'ci',
    when: 'reporting a vulnerability or sponsoring the project',
    severity: 'suspect',
    files: [
      'FUNDING.y{,a}ml',
      'FUNDING.json',
      'SECURITY.md',
      'security.txt',
      'MAINTAINERS',
      '.github/ISSUE_TEMPLATE/config.yml',
    ],
    look: [
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
    id: 'ci-ignore-files',
    family: 'ci',
    when: 'building an image, publishing a package, searching',
    severity: 'suspect',
    files: [
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
    look: [
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
  const bare = (pattern: string): string => pattern.replace(/^\/|(?<!\*)\/?\**$/g, '');
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
