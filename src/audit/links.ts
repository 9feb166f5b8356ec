import type { Change } from '../core/types/entry.ts';
import { foldPath } from './formats/glob.ts';
import { SECRET_NAME } from './formats/secrets.ts';
import { isInstalled } from './formats/text-files.ts';
import type { Found } from './general-rules/rule.ts';
import type { BaseReader, Scene } from './input.ts';

/** The target of a link: a path of the tree, or the reason why it is outside. */
export type Resolved = { readonly inside: string } | { readonly outside: string };

/** As Linux: more links in one path are an error. */
const MAX_LINK_STEPS = 40;

/** Follows a link step by step in the tree as the session leaves it. */
export const resolveLink = (scene: Scene, link: string, target: string): Resolved =>
  resolveIn((path) => targetAt(scene, path), link, target);

/** The path of the base that a link of the base led to, followed step by step; undefined outside the base. */
export function resolveInBase(
  linkTarget: BaseReader['linkTarget'] | undefined,
  link: string,
  target: string,
): string | undefined {
  const where = resolveIn((path) => linkTarget?.(path), link, target);
  return 'inside' in where ? where.inside : undefined;
}

/** `targetOf`: target of the link at a path, undefined for what is not a link. */
function resolveIn(targetOf: (path: string) => string | undefined, link: string, target: string): Resolved {
  const stack = link.split('/').slice(0, -1);
  let todo = target.split('/');
  if (target.startsWith('/')) return { outside: target };
  for (let steps = 0; todo.length > 0; ) {
    const part = todo.shift() as string;
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (stack.pop() === undefined) return { outside: target };
      continue;
    }
    stack.push(part);
    const next = targetOf(stack.join('/'));
    if (next === undefined) continue;
    steps += 1;
    if (steps > MAX_LINK_STEPS) return { outside: 'a loop of links' };
    if (next.startsWith('/')) return { outside: `${target}, by way of ${stack.join('/')} to ${next}` };
    stack.pop();
    todo = [...next.split('/'), ...todo];
  }
  return { inside: stack.join('/') };
}

function targetAt(scene: Scene, path: string): string | undefined {
  const entry = scene.after(path);
  if (entry === 'base') return scene.input.base?.linkTarget?.(path);
  return entry?.kind === 'symlink' ? (entry.target ?? '/') : undefined;
}

/** Where a new link leads: out of the tree, into /proc or the project's path in the container, to what nobody saw. */
export function newLink(scene: Scene, change: Change): readonly Found[] {
  const { after, before } = change;
  if (after?.kind !== 'symlink') return [];
  const target = after.target ?? '';
  if (before?.kind === 'symlink' && before.target === target) return [];
  const outside = (name: string | undefined, detail: string): Found[] => [{ rule: 'link-outside', case: name, detail }];
  if (/[\u0000-\u001f\u007f]/.test(target)) return outside('control', target);
  if (/^\/+(proc|dev|sys)(\/|$)/.test(target)) return outside('kernel', target);
  if (/^\/+(workspace|home\/agent)(\/|$)/.test(target)) return outside('container', target);
  const where = resolveLink(scene, change.path, target);
  if ('outside' in where) return outside(undefined, where.outside);
  if (where.inside === '') return outside('project', target);
  if (/(^|\/)\.git(\/|$)/i.test(where.inside)) return outside('git', target);
  if (GIT_FILE.test(change.path)) return [{ rule: 'link-watched-name', case: 'git', detail: target }];
  const isUnseen = scene.input.base !== undefined && !scene.isSeen(where.inside);
  if (!isUnseen && !SECRET_NAME.test(where.inside)) return [];
  return [{ rule: 'link-unseen', case: isUnseen ? undefined : 'secrets', detail: where.inside }];
}

/** Files that git reads by name: it ignores a link of that name, and shows all that the file would hide. */
const GIT_FILE = /(^|\/)\.(gitignore|gitattributes|gitmodules|mailmap)$/i;

/** So many other names of one path are judged; a path with more is a finding. */
export const MOST_ALIASES = 64;
/** So many names through installed packages are asked for: what follows their folder is the same in all of them. */
const MOST_INSTALLED = 8;

/** The names by which a path can be reached through links, at most MOST_ALIASES + 1 of each kind. */
export interface OtherNames {
  /** Names that rules judge a file by. */
  readonly judged: (path: string) => readonly string[];
  /** Also names through the links of a package manager, by which a command may run the file. */
  readonly run: (path: string) => readonly string[];
}

/**
 * The other names of paths: through links, new and old, also through several links, and in another letter case of the
 * folder that a link leads to. A link of the base below a folder of installed packages is the work of a package manager
 * (`node_modules/a -> ../packages/a`): it says who uses a file and not where the file comes from, so no rule judges the
 * file by that name, and no further name is made of it.
 */
export function aliasesOf(scene: Scene): OtherNames {
  const [links, installed] = [new LinksByTarget(scene), new LinksByTarget(scene)];
  for (const { path, after } of scene.input.changes) if (after?.kind === 'symlink') links.add(path, after.target ?? '');
  const { base } = scene.input;
  if (base?.linkTarget !== undefined)
    for (const path of base.paths) {
      const target = scene.byPath.has(path) ? undefined : base.linkTarget(path);
      if (target !== undefined) (isInstalled(path) ? installed : links).add(path, target);
    }
  const judged = (path: string): readonly string[] => {
    const seen = new Set([path]);
    for (const name of seen) {
      if (seen.size > MOST_ALIASES + 1) break;
      for (const alias of links.namesOf(name)) seen.add(alias);
    }
    return [...seen].slice(1, MOST_ALIASES + 2);
  };
  return {
    judged,
    run: (path) => {
      const names = judged(path);
      const used = [path, ...names].flatMap((name) => [...installed.namesOf(name)].slice(0, MOST_INSTALLED));
      return [...new Set([...names, ...used])].slice(0, MOST_ALIASES + 1);
    },
  };
}

/** Links by the path that they lead to, folded (glob.ts). */
class LinksByTarget {
  readonly #byTarget = new Map<string, string[]>();
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  add(name: string, target: string): void {
    const where = resolveLink(this.#scene, name, target);
    if (!('inside' in where) || where.inside === '') return;
    const key = foldPath(where.inside);
    const names = this.#byTarget.get(key);
    if (names === undefined) this.#byTarget.set(key, [name]);
    else names.push(name);
  }

  /** The names of a path through one link. */
  *namesOf(path: string): Generator<string> {
    if (this.#byTarget.size === 0) return;
    // Folding is by component, so a folder's form is where it ends in that of the whole.
    const folded = foldPath(path);
    let foldedEnd = folded.length;
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      for (const link of (this.#byTarget.get(folded.slice(0, foldedEnd)) ?? []).slice(0, MOST_ALIASES + 1))
        if (!path.startsWith(`${link}/`)) yield link + path.slice(end);
      foldedEnd = folded.lastIndexOf('/', foldedEnd - 1);
    }
  }
}
