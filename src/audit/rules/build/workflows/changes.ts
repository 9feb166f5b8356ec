import { newLines } from '../../../formats/lines.ts';
import { anyOf } from '../../../formats/words.ts';
import { isReadComment } from '../../../judges/comments.ts';
import { pathsOf } from '../../../judges/judge.ts';
import type { JudgedText } from '../../../judges/rule.ts';
import { isPlainValue, type Surroundings } from './plain.ts';
import { isMovedPin, type PinnedReleases, pinnedReleases } from './releases.ts';
import { keyOf, readWorkflow, type Workflow, type WorkflowLeaf } from './tree.ts';

/** Files that a runner of GitHub, Gitea or Forgejo reads as a workflow or an action. */
export const WORKFLOW_PATHS = ['.{github,gitea,forgejo}/workflows/*.y{,a}ml', 'action.y{,a}ml'] as const;

/** Whether a file is read as a workflow or an action. `path` as rules see it. */
export const isWorkflow = (path: string): boolean => pathsOf(WORKFLOW_PATHS)(path);

/** A workflow, and the releases that its comments name. */
interface ReadWorkflow extends Workflow {
  readonly releases: PinnedReleases;
}

const EMPTY: ReadWorkflow = {
  leaves: new Map(),
  nodes: new Set(),
  jobsByName: new Map(),
  steps: new Map(),
  releases: new Map(),
};
/** Spellings on which parsers differ: directives, further documents, keys of several lines, merges, tags. */
const ODD_LINE = anyOf(/^(%|---.|\.\.\.|\?\s|["']?<<["']?\s*:)/, /(^|[:-]\s+|[[,{]\s*)!/);
const ODD_BREAK = /[\u000b\u0085\u2028\u2029]|\r(?!\n)/;

/** What counts in a change of a workflow; empty for one that is plain data. */
export function workflowChanges({ before, after }: Pick<JudgedText, 'before' | 'after'>): string[] {
  if (after === undefined) return ['the workflow was deleted'];
  const now = readWithReleases(after);
  if (now === undefined) return ['a runner may read it in another way'];
  const old = (before === undefined ? undefined : readWithReleases(before)) ?? EMPTY;
  const lines = newLines(before, after).map(({ text }) => text);
  return [
    ...(before === undefined ? ['a new workflow'] : []),
    ...lines.filter((line) => ODD_LINE.test(line)).map((line) => `another spelling: ${shown(line)}`),
    ...lines
      .filter((line) => line.startsWith('#') && isReadComment(line))
      .map((line) => `a comment for a tool: ${shown(line)}`),
    ...(ODD_BREAK.test(after) && !ODD_BREAK.test(before ?? '') ? ['a line that ends in an odd way'] : []),
    ...newValues(old, now),
    ...lostValues(old, now),
    ...movedSteps(old, now),
  ];
}

/**
 * The actions that keep their name in a changed workflow while the commit that they are pinned to moves together with the
 * release in the comment behind it.
 */
export function movedPins({ before, after }: Pick<JudgedText, 'before' | 'after'>): string[] {
  const [old, now] = [before, after].map((text) => (text === undefined ? undefined : readWithReleases(text)));
  if (old === undefined || now === undefined) return [];
  const moved = [...now.leaves].flatMap(([key, { path, values }]) => {
    if (path.at(-1) !== 'uses') return [];
    const had = old.leaves.get(key)?.values ?? [];
    const releases = { before: old.releases, after: now.releases };
    return without(values, had)
      .filter((value) => isMovedPin(value, had, releases))
      .map((value) => shown(`${value.replace(/@.*/s, '')} ${now.releases.get(value)}: ${value.replace(/^.*@/, '')}`));
  });
  return [...new Set(moved)];
}

function readWithReleases(text: string): ReadWorkflow | undefined {
  const read = readWorkflow(text);
  return read && { ...read, releases: pinnedReleases(text) };
}

const shown = (text: string): string => text.replace(/\s+/g, ' ').slice(0, 120);
const nameOf = (path: readonly string[]): string => shown(path.join('.').replaceAll('.[]', '[]'));

function newValues(old: ReadWorkflow, now: ReadWorkflow): string[] {
  return [...now.leaves].flatMap(([key, leaf]) => {
    const had = old.leaves.get(key)?.values ?? [];
    const added = without(leaf.values, had);
    if (added.length === 0) return [];
    const around = surroundings(leaf, had, old, now);
    return added
      .filter((value) => !isPlainValue(leaf, value, around))
      .map((value) => `${nameOf(leaf.path)}: ${shown(value)}`);
  });
}

/** Values that other ones do not have, counting repetitions. */
function without(values: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const one of others) left.set(one, (left.get(one) ?? 0) + 1);
  return values.filter((value) => {
    const count = left.get(value) ?? 0;
    if (count > 0) left.set(value, count - 1);
    return count === 0;
  });
}

function surroundings(
  { path }: WorkflowLeaf,
  values: readonly string[],
  old: ReadWorkflow,
  now: ReadWorkflow,
): Surroundings {
  const job = path[0] === 'jobs' ? path[1] : undefined;
  return {
    old: values,
    releases: { before: old.releases, after: now.releases },
    hadEvent: (event) => has(old, ['on', event]),
    hadPermissions: has(old, ['permissions']) || (job !== undefined && has(old, ['jobs', job, 'permissions'])),
    isJob: (id) => has(now, ['jobs', id]),
    isOtherJob: (name, id) =>
      (name !== id && has(old, ['jobs', name])) || (old.jobsByName.get(name)?.some((other) => other !== id) ?? false),
  };
}

/** Whether a workflow has something at a path or below it. */
const has = ({ nodes }: Workflow, path: readonly string[]): boolean => nodes.has(keyOf(path));

/**
 * Values that were deleted while what they belonged to is still there: a condition, a filter, a permission. A step, a job or an
 * event that was deleted as a whole leaves the others as they were, unless it checked something.
 */
function lostValues(old: Workflow, now: Workflow): string[] {
  const seen = new Set<string>();
  return [...old.leaves].flatMap(([key, { path, values }]) => {
    const owner = goneOwner(path, now);
    if (owner !== undefined) {
      const name = nameOf(owner);
      if (seen.has(name) || !values.some((value) => CHECKS.test(value)) || !isTold(path, owner)) return [];
      seen.add(name);
      return [`a check was removed: ${name}`];
    }
    const lost = without(values, now.leaves.get(key)?.values ?? []);
    if (lost.length === 0) return [];
    // Another value of the same key was judged as a new one; a shorter list of what starts or holds a job is less.
    const isList = path.at(-1) === '[]';
    if (now.leaves.has(key) && !(isList && lost.some((value) => widensWithout(path, value, now)))) return [];
    if (isPlainLoss(path, lost, now)) return [];
    return [`${nameOf(path)} was removed: ${shown(lost.join(', '))}`];
  });
}

/** What a deleted step or job did that others may rely on. */
const CHECKS =
  /\b(verif\w*|check(?!out\b)\w*|audit\w*|scan\w*|sha\d+sum|cosign|gpg|attest\w*|harden\w*|codeql\w*|zizmor|actionlint|gitleaks|trufflehog|semgrep|trivy|snyk|scorecard\w*|dependency-review\w*)\b/i;

/** The texts that say what a job or step does: its name, its commands and the action that it uses. */
const isTold = (path: readonly string[], owner: readonly string[]): boolean =>
  ['name', 'run', 'uses'].includes(path.at(-1) ?? '') && path.length > owner.length;

/** The event, job, step or service that a value belonged to and that the workflow no longer has. */
function goneOwner(path: readonly string[], now: Workflow): readonly string[] | undefined {
  const [top] = path;
  const depths =
    top === 'on'
      ? [2]
      : top === 'jobs'
        ? [2, path[2] === 'steps' || path[2] === 'services' ? 4 : 2]
        : top === 'runs'
          ? [3]
          : [];
  return (
    depths.map((depth) => path.slice(0, depth)).find((owner) => owner.length < path.length && !has(now, owner)) ??
    // An event without settings.
    (top === 'on' && path.length === 2 && !has(now, path) ? path : undefined)
  );
}

/** Whether a shorter list lets more through: of what is left out, of exceptions, of jobs that have to come first. */
const widensWithout = (path: readonly string[], value: string, now: Workflow): boolean =>
  path.some((name) => name.endsWith('-ignore')) ||
  value.startsWith('!') ||
  (partOf(path)[0] === 'needs' && has(now, ['jobs', value])) ||
  partOf(path)[2] === 'exclude';

/** Keys that hold nothing back, so that the workflow does no more without them. */
const FREE = new Set([
  'name',
  'run-name',
  'description',
  'timeout-minutes',
  'continue-on-error',
  'fail-fast',
  'max-parallel',
  'id',
]);

function isPlainLoss(path: readonly string[], lost: readonly string[], now: Workflow): boolean {
  const part = partOf(path);
  const [section, name = ''] = part;
  switch (section) {
    case 'permissions':
      return has(now, path.slice(0, 1 + path.length - part.length));
    case 'needs':
      return lost.every((value) => !has(now, ['jobs', value]));
    case 'env':
    case 'concurrency':
      return true;
    case 'strategy':
      return name === 'matrix' ? part[2] !== 'exclude' : FREE.has(name);
    case 'with':
      return part.length === 2 && PLAIN_INPUT.test(name);
    default:
      return part.length === 1 && FREE.has(section ?? '');
  }
}

/** The names of a value within its step, its job, its action or, outside of these, the whole workflow. */
function partOf(path: readonly string[]): readonly string[] {
  const within = path[0] === 'jobs' ? path.slice(2) : path[0] === 'runs' ? path.slice(1) : path;
  return within[0] === 'steps' ? within.slice(2) : within;
}

/** Inputs of actions without which they take their own default, and do nothing more. */
const PLAIN_INPUT =
  /^(cache|cache-\w+|fetch-depth|\w+-version|version|architecture|check-latest|components|retention-days|flags|name)$/;

/** The steps that both have must come in the same order. */
function movedSteps(old: Workflow, now: Workflow): string[] {
  return [...now.steps].flatMap(([key, steps]) => {
    const had = old.steps.get(key) ?? [];
    const common = (list: readonly string[], other: readonly string[]): string => {
      const others = new Set(other);
      return list.filter((one) => others.has(one)).join('\0');
    };
    return common(had, steps) === common(steps, had) ? [] : [`${nameOf(key.split('\0'))}: in another order`];
  });
}
