import { readYaml } from '../../../formats/parsers/yaml.ts';

/** One value of a workflow, or several of a list of plain values, under the names that lead to it. */
export interface WorkflowLeaf {
  /** A step is named by what it runs, without versions: `jobs`, `x`, `steps`, `actions/checkout#1`, `with`, `ref`. A list's items are `[]`. */
  readonly path: readonly string[];
  readonly values: readonly string[];
}

/** A workflow or an action of GitHub, Gitea or Forgejo, as a runner reads it. */
export interface Workflow {
  /** By path, joined by NUL. */
  readonly leaves: ReadonlyMap<string, WorkflowLeaf>;
  /** Every path that leads to a value, joined by NUL. */
  readonly nodes: ReadonlySet<string>;
  /** The jobs that have a name, by it. */
  readonly jobsByName: ReadonlyMap<string, readonly string[]>;
  /** Names of the steps in their order, by the path of their list. */
  readonly steps: ReadonlyMap<string, readonly string[]>;
}

/** Commands with `V` for each version of a tool; a number without a dot, and an address, stay as they are. */
export const withoutVersions = (run: string): string =>
  run.replace(/(?<![\w.$-])(v?)\d{1,4}\.\d{1,4}(\.\d{1,4})?(?![\w.:-])/g, '$1V');

export const keyOf = (path: readonly string[]): string => path.join('\0');

/** Reads a workflow. Undefined for what a runner refuses or may read in another way: keys twice, tags, several documents. */
export function readWorkflow(text: string): Workflow | undefined {
  const leaves = new Map<string, WorkflowLeaf & { readonly values: string[] }>();
  const steps = new Map<string, readonly string[]>();
  const nodes = new Set<string>();
  const jobsByName = new Map<string, string[]>();
  const add = (path: readonly string[], value: string): void => {
    const key = keyOf(path);
    const leaf = leaves.get(key) ?? { path, values: [] };
    leaf.values.push(value);
    leaves.set(key, leaf);
  };
  const walk = (value: unknown, path: readonly string[]): void => {
    nodes.add(keyOf(path));
    const [top, job = '', name] = path;
    if (top === 'jobs' && name === 'name' && path.length === 3)
      jobsByName.set(String(value), [...(jobsByName.get(String(value)) ?? []), job]);
    const isSteps = Array.isArray(value) && path.at(-1) === 'steps';
    if (isSteps) steps.set(keyOf(path), walkSteps(value, path, walk));
    else if (Array.isArray(value)) for (const item of value) walk(item, [...path, '[]']);
    else if (value instanceof Map) for (const [name, item] of value) walk(item, [...path, String(name)]);
    else add(path, String(value));
    if ((Array.isArray(value) && value.length === 0) || (value instanceof Map && value.size === 0)) add(path, '');
  };
  const root = rootOf(text);
  if (root === undefined) return undefined;
  walk(withListsFor(root), []);
  return { leaves, nodes, jobsByName, steps };
}

function rootOf(text: string): Map<unknown, unknown> | undefined {
  try {
    const read = readYaml(text);
    if (read === undefined || read.repeated.length > 0 || read.tags.length > 0 || read.values.length > 1)
      return undefined;
    const [root = new Map()] = read.values;
    return root instanceof Map ? root : undefined;
  } catch {
    // More than the budget: the caller takes it for unread.
    return undefined;
  }
}

/** So much of its commands names a step: the whole text is compared as its value. */
const NAMED_CHARS = 80;

/** Walks steps, and returns their names: what they run or the action that they use, and how often that came before. */
function walkSteps(
  steps: readonly unknown[],
  path: readonly string[],
  walk: (value: unknown, path: readonly string[]) => void,
): string[] {
  const seen = new Map<string, number>();
  return steps.map((step) => {
    const [uses, run, title] = step instanceof Map ? [step.get('uses'), step.get('run'), step.get('name')] : [];
    const what =
      typeof uses === 'string'
        ? uses.replace(/@[^@]*$/, '')
        : run === undefined || run === null
          ? `a step without a command${typeof title === 'string' ? `: ${title.slice(0, NAMED_CHARS)}` : ''}`
          : `run: ${withoutVersions(String(run)).slice(0, NAMED_CHARS)}`;
    const times = (seen.get(what) ?? 0) + 1;
    seen.set(what, times);
    const name = `${what}#${times}`;
    walk(step, [...path, name]);
    return name;
  });
}

/** The same workflow with its events as a table, and with lists where a single name stands for a list of one. */
function withListsFor(root: ReadonlyMap<unknown, unknown>): ReadonlyMap<unknown, unknown> {
  const on = root.get('on');
  const events = typeof on === 'string' ? [on] : on;
  const jobs = root.get('jobs');
  return new Map([
    ...root,
    ...(Array.isArray(events) ? [['on', new Map(events.map((one) => [one, null]))] as const] : []),
    ...(jobs instanceof Map ? [['jobs', new Map([...jobs].map(([id, job]) => [id, withLists(job)]))] as const] : []),
  ]);
}

const LISTS = ['needs', 'runs-on'];

function withLists(job: unknown): unknown {
  if (!(job instanceof Map)) return job;
  return new Map(
    [...job].map(([key, value]) => [key, LISTS.includes(key) && typeof value === 'string' ? [value] : value]),
  );
}
