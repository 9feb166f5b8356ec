import { ownValue } from '../../../../core/text/own-value.ts';
import { oneOf, pattern, words } from '../../../formats/words.ts';
import { type HarmlessKeys, harmlessKeysOf } from '../../../judges/harmless-keys.ts';
import { oddVariable } from '../../shell/variables.ts';
import { isMovedPin, isNextTag, type PinnedReleases } from './releases.ts';
import { type WorkflowLeaf, withoutVersions } from './tree.ts';

/** A number or a version. None is as long as the id of a commit, and none can be a name or a path. */
const VERSION = pattern(
  'i',
)`^[v~^<>= ]*\d{1,6}(\.(\d{1,6}|x|\*)){0,3}([.+-]?(alpha|beta|rc|dev|pre|preview|x|t)[.-]?\d{0,4})?$`;
const CHANNEL =
  /^(stable|beta|nightly|latest|oldstable|lts(\/\*)?|current|head|pypy-?\d\.\d+|(jruby|truffleruby)(-\d+(\.\d+)*)?)$/i;
const SWITCH = /^(true|false)$/;
const PROSE = /^[\w/ -]+\.(md|rst|txt|org|adoc)$/i;
/** Machines of GitHub itself. */
const RUNNER = /^(ubuntu|windows|macos)-(latest|slim|\d\d(\.\d\d)?)(-arm|-intel|-large|-xlarge)?$/;
const CRON = /^[\d*/,\-A-Z? ]{9,60}$/;
/** Text for readers, which may name a value of the matrix. */
const TEXT = /^(?!.*\$\{\{(?!\s*matrix\.[\w-]+\s*\}\}))[^`]*$/s;
/** A group is compared with others, and nothing more. */
const GROUP = /^(?!.*\bsecrets\b)[^`]*$/s;

const isVersion = (value: string): boolean => VERSION.test(value) || CHANNEL.test(value);

/** What actions that many use take without running, loading, fetching or publishing something else. By the action's name. */
const ACTIONS: Readonly<Record<string, HarmlessKeys>> = {
  'actions/checkout': { switch: words`fetch-depth clean show-progress fetch-tags` },
  'actions/setup-node': { word: words`architecture`, words: words`cache`, switch: words`check-latest` },
  'actions/setup-python': {
    word: words`architecture cache`,
    switch: words`check-latest allow-prereleases update-environment`,
  },
  'actions/setup-java': { word: words`distribution architecture cache java-package`, switch: words`check-latest` },
  'actions/setup-go': { word: words`architecture`, switch: words`check-latest cache` },
  'actions/setup-dotnet': { word: words`dotnet-quality`, switch: words`cache` },
  'actions/upload-artifact': { switch: words`retention-days if-no-files-found compression-level` },
  'actions/stale': {
    switch: words`days-* operations-per-run ascending remove-*-stale-when-updated`,
    text: words`*-message *-label exempt-*-labels`,
  },
  'dtolnay/rust-toolchain': { words: words`components` },
  'dart-lang/setup-dart': { word: words`sdk` },
  'erlef/setup-beam': { words: words`otp-version elixir-version` },
  'gradle/actions/setup-gradle': { switch: words`cache-* build-scan-publish` },
  'ruby/setup-ruby': { switch: words`bundler-cache` },
  'shivammathur/setup-php': { words: words`coverage` },
  'Swatinem/rust-cache': { switch: words`cache-* save-if` },
};
/** The version of a tool. */
const TOOL_VERSION = pattern()`^(${oneOf`version [\w-]*[-_]version toolchain channel otp-version ghc-version`})$`;

/** Variables of tools that show more or less, or build in another order. */
const HARMLESS_VARIABLE = /^(\w+_)?(MSRV|FORCE_COLOR|CARGO_TERM_COLOR|CARGO_INCREMENTAL)$/;

/** What the rest of a workflow says about one of its values. */
export interface Surroundings {
  /** The values under the same path before the change. */
  readonly old: readonly string[];
  /** The actions that are pinned, in both texts. */
  readonly releases: { readonly before: PinnedReleases; readonly after: PinnedReleases };
  readonly hadEvent: (event: string) => boolean;
  /** Values of `permissions` at this level or above before the change. */
  readonly hadPermissions: boolean;
  readonly isJob: (id: string) => boolean;
  /** Whether another job has this name or id. */
  readonly isOtherJob: (name: string, id: string) => boolean;
}

/**
 * Whether a new value of a workflow runs nothing else, reads no other path, reaches no secret, widens no permission and
 * adds no trigger.
 */
export function isPlainValue({ path }: WorkflowLeaf, value: string, around: Surroundings): boolean {
  const [top, first = '', second = '', ...rest] = path;
  const last = path.at(-1) ?? '';
  if (top === 'jobs') return isPlainOfJob(first, [second, ...rest], value, around);
  if (top === 'runs') return isPlainOfRuns(path.slice(1), value, around);
  if (top === 'permissions') return isNarrower(value, around);
  if (top === 'env' && path.length === 2) return isPlainVariable(last, value);
  if (top === 'on') return isPlainOfEvent(path.slice(1), value, around);
  if (top === 'concurrency') return GROUP.test(value);
  if (path.length === 1) return ['name', 'run-name', 'description', 'author'].includes(last) && TEXT.test(value);
  if (top === 'branding') return /^[\w-]{1,40}$/.test(value);
  if (top === 'inputs' || top === 'outputs') return isPlainInput(path.slice(1), value);
  return false;
}

function isPlainOfJob(id: string, path: readonly string[], value: string, around: Surroundings): boolean {
  const [key = '', next = ''] = path;
  const isOne = path.length === 1;
  switch (key) {
    case 'name':
      // Rules for branches ask for a check by the name of its job.
      return isOne && TEXT.test(value) && !around.isOtherJob(value, id);
    case 'runs-on':
      return next === '[]' && RUNNER.test(value);
    case 'needs':
      return next === '[]' && around.isJob(value);
    case 'timeout-minutes':
      return isOne && VERSION.test(value);
    case 'continue-on-error':
      return isOne && value === 'false';
    case 'concurrency':
      return GROUP.test(value);
    case 'permissions':
      return isNarrower(value, around);
    case 'env':
      return path.length === 2 && isPlainVariable(next, value);
    case 'strategy':
      return isPlainStrategy(path.slice(1), value);
    case 'services':
    case 'container':
      return (path.at(-1) === 'image' || (key === 'container' && isOne)) && isNextImage(value, around.old);
    case 'uses':
      return isOne && isNextRelease(value, around);
    case 'with':
      return path.length === 2 && TOOL_VERSION.test(next) && isVersion(value);
    case 'steps':
      return isPlainOfStep(path.slice(1), value, around);
    default:
      return false;
  }
}

function isPlainOfStep(
  [step = '', key = '', next = '', ...rest]: readonly string[],
  value: string,
  around: Surroundings,
): boolean {
  if (key === 'name') return TEXT.test(value);
  if (key === 'uses') return isNextRelease(value, around);
  if (key === 'run') return around.old.some((one) => withoutVersions(one) === withoutVersions(value));
  if (key === 'timeout-minutes') return VERSION.test(value);
  if (key === 'continue-on-error') return value === 'false';
  if (rest.length > 0) return false;
  if (key === 'env') return isPlainVariable(next, value);
  if (key !== 'with') return false;
  if (TOOL_VERSION.test(next) && value.split(/[\s,]+/).every((one) => one === '' || isVersion(one))) return true;
  if (next === 'persist-credentials') return value === 'false';
  const plain = ownValue(ACTIONS, step.replace(/#\d+$/, ''));
  return plain !== undefined && !value.includes('${{') && harmlessKeysOf(plain)({ key: next, value });
}

/** of a separate action. */
function isPlainOfRuns([key = '', ...rest]: readonly string[], value: string, around: Surroundings): boolean {
  if (key === 'steps') return isPlainOfStep(rest, value, around);
  return key === 'using' && /^node\d\d$/.test(value) && around.old.some((one) => /^node\d\d$/.test(one));
}

function isPlainOfEvent(
  [event = '', key = '', ...rest]: readonly string[],
  value: string,
  around: Surroundings,
): boolean {
  if (!around.hadEvent(event)) return false;
  // A list that there was gets longer by a file for readers: less starts a job.
  if (key === 'paths-ignore') return around.old.length > 0 && PROSE.test(value);
  if (event === 'schedule') return rest[0] === 'cron' && around.old.length > 0 && CRON.test(value);
  if (event !== 'workflow_dispatch' && event !== 'workflow_call') return false;
  return (key === 'inputs' || key === 'outputs') && isPlainInput(rest, value);
}

function isPlainInput([, key = '', item]: readonly string[], value: string): boolean {
  if (key === 'description' || key === 'deprecationMessage') return item === undefined && TEXT.test(value);
  if (key === 'required') return SWITCH.test(value);
  if (key === 'type') return /^(string|boolean|number|choice)$/.test(value);
  return (key === 'default' || key === 'options') && (isVersion(value) || SWITCH.test(value));
}

/** Versions and machines: whatever reads a value of the matrix gets another version, and no other name. */
function isPlainStrategy([key = '', ...rest]: readonly string[], value: string): boolean {
  if (key === 'fail-fast') return SWITCH.test(value);
  if (key === 'max-parallel') return VERSION.test(value);
  return key === 'matrix' && rest.length > 0 && (value === '' || isVersion(value) || RUNNER.test(value));
}

/** A permission that is not more than what was granted before; the first ones take all others away. */
function isNarrower(value: string, { old, hadPermissions }: Surroundings): boolean {
  if (value === 'none' || value === '') return true;
  return value === 'read' && (old.some((one) => one === 'write' || one === 'read') || !hadPermissions);
}

function isPlainVariable(name: string, value: string): boolean {
  if (!isVersion(value) && !SWITCH.test(value) && value !== 'always') return false;
  return HARMLESS_VARIABLE.test(name) || oddVariable(`${name}=${value}`) === undefined;
}

const isNextRelease = (value: string, { old, releases }: Surroundings): boolean =>
  isNextTag(value, old) || isMovedPin(value, old, releases);

/** The same image with another version. */
function isNextImage(value: string, old: readonly string[]): boolean {
  const [name, version] = splitAt(value, ':');
  return /^\d[\w.-]{0,60}$/.test(version) && old.some((one) => splitAt(one, ':')[0] === name);
}

function splitAt(text: string, mark: string): readonly [string, string] {
  const at = text.lastIndexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
