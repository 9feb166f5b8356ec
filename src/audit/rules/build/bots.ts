import { anyOf, oneOf, pattern, words } from '../../formats/words.ts';
import type { HarmlessKeys } from '../../judges/harmless-keys.ts';
import type { Rule } from '../../judges/rule.ts';
import { SONAR } from '../languages/plain-jvm.ts';

const DEPENDABOT_PATHS = ['.github/dependabot.y{,a}ml'];
/** Which updates the bot proposes, how often, and how it names them. */
const DEPENDABOT: HarmlessKeys = {
  switch: words`version updates.{open-pull-requests-limit,enable-beta-ecosystems} updates.cooldown.{default-days,semver-*-days}`,
  word: words`updates.{package-ecosystem,versioning-strategy,rebase-strategy} {,***.}{interval,schedule,day,time} updates.groups.*.applies-to`,
  text: words`updates.schedule.timezone updates.commit-message.{prefix,prefix-development,include}`,
  words: words`updates.labels`,
  any: words`updates.groups updates.groups.*.{patterns,exclude-patterns,update-types,dependency-type} updates.{ignore,allow}.***`,
};
const DEPENDABOT_FOLDER = /^updates\[\]\.director(y|ies\[\])=\/?(?!.*\.\.)[\w./*-]*$/;

const RENOVATE_PATHS = ['{.,}renovate{rc,}{,.json,.json5,.js}', '.github/renovate.json{,5}'];
/** Which updates the bot proposes, when, in which groups and under which names. What it merges or runs is not here. */
const RENOVATE: HarmlessKeys = {
  any: words`
    $schema description labels addLabels timezone schedule ignorePaths ignoreDeps commitMessage* semanticCommit* prTitle
    packageRules.{description,match*,exclude*,group*,labels,addLabels,commitMessage*,semanticCommit*,schedule,allowedVersions}
    lockFileMaintenance.schedule
  `,
  switch: words`
    {,packageRules.}{enabled,separateMajorMinor,separateMinorPatch,separateMultipleMajor,pinDigests} dependencyDashboard
    {branchConcurrentLimit,prConcurrentLimit,prHourlyLimit} lockFileMaintenance.enabled
  `,
  word: words`{,packageRules.}rangeStrategy rebaseWhen enabledManagers`,
};
/** Presets that the bot itself has, but none that merges. */
const PRESETS = oneOf`
  config:(base|recommended|best-practices|js-app|js-lib) group:\w+ schedule:\w+ :dependencyDashboard :semantic\w+
  :prHourlyLimit\w+ :prConcurrentLimit\w+ :timezone\([\w/]+\) :label\(\w+\) :maintainLockFilesWeekly :preserveSemverRanges :pin\w+
`;
const RENOVATE_PRESETS = pattern()`^extends\[\]=(${PRESETS})$`;

const OTHER_BOTS = [
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
];

const CODECOV_PATHS = ['{.,}codecov.y{,a}ml'];
/** How a report is shown. What a check requires is not here. */
const CODECOV: HarmlessKeys = {
  switch: words`comment comment.{require_*,hide_*,show_*,after_n_builds} coverage.precision github_checks github_checks.annotations`,
  words: words`comment.{behavior,layout} coverage.round`,
  any: words`coverage.range`,
};
/** A limit or a rule that is deleted. */
const LESS = anyOf(/threshold|fail|severity|rule|id\s*=/i, /target|status|require/i);

const OTHER_SCANNERS = [
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
];

/** Bots that propose and merge changes, and scanners that check them. */
export const botRules: readonly Rule[] = [
  {
    id: 'ci-bots',
    family: 'ci',
    when: 'the next run of the bot',
    severity: 'suspect',
    files: [...DEPENDABOT_PATHS, ...RENOVATE_PATHS, ...OTHER_BOTS],
    look: [
      {
        kind: 'settings',
        format: 'yaml',
        files: DEPENDABOT_PATHS,
        harmless: { ...DEPENDABOT, matching: DEPENDABOT_FOLDER },
      },
      {
        kind: 'settings',
        format: 'jsonc',
        files: RENOVATE_PATHS,
        harmless: { ...RENOVATE, matching: RENOVATE_PRESETS },
      },
      {
        kind: 'lines',
        files: OTHER_BOTS,
        danger: anyOf(
          /insecure-external|registr|post(Upgrade|Update)?Tasks|automerge|merge|conditions|approv|extends/i,
          /allowedCommands|command|token|owner|@|branches|protect|required|plugins|package-ecosystem|host|url/i,
        ),
        harmless: /^-?\s*"?(schedule|interval|day|time|timezone)"?\s*:/i,
        removed: /^[^#].*@|required|approv|protect|^OWNERS/i,
      },
    ],
    why: 'The file decides what is merged or fetched without a review.',
    source: 'Dependabot, Renovate and Mergify documentation',
  },
  {
    id: 'ci-scanners',
    family: 'ci',
    when: 'the next scan',
    severity: 'suspect',
    files: [...OTHER_SCANNERS, ...CODECOV_PATHS, ...SONAR.files, '!.github/workflows/**'],
    look: [
      { kind: 'settings', format: 'yaml', files: CODECOV_PATHS, harmless: CODECOV, removed: LESS },
      { kind: 'settings', format: 'properties', ...SONAR, removed: /./ },
      { kind: 'lines', files: OTHER_SCANNERS, danger: /^[^#\s]/, removed: LESS },
      { kind: 'custom', see: ({ after }) => (after === undefined ? ['the settings of a check were removed'] : []) },
    ],
    why: 'The scanner checks less, or requires less.',
    source: 'documentation of the scanners',
  },
];
