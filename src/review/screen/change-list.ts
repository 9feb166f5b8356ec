import { createColors } from 'picocolors';
import { foldersAbove } from '../../core/text/path.ts';
import type { Review, ReviewItem } from '../../core/types/review.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { amount } from '../../terminal/progress.ts';
import { isDeletion } from '../choices/policy.ts';

export interface ChangeListOptions {
  readonly colour: boolean;
  /** Only what is below this folder. */
  readonly folder?: string | undefined;
}

/** Up to this many, each change is a line with its whole path. More are listed by folder. */
const MAX_FLAT_CHANGES = 40;
/** Lines that a list by folder aims at: folders are opened while it stays below. */
const LINES_WANTED = 80;
const OTHER_LINES_WANTED = 40;

/**
 * The changes, one line each; many of them by folder: a folder with more changes than the list has room for is one line
 * with their numbers. Suspect and blocked changes are always lines of their own. A rename is one line. Deletions come
 * last, as their own group. Cleaned.
 */
export function changeList(review: Review, { colour, folder }: ChangeListOptions): string[] {
  const below = folder?.replace(/^\.?\/+|\/+$/g, '');
  const isWanted = ({ change }: ReviewItem): boolean =>
    below === undefined || below === '' || change.path === below || change.path.startsWith(`${below}/`);
  const listed = review.items.filter(
    (item) => item.state !== 'git' && item.state !== 'withheld' && item.renamedTo === undefined && isWanted(item),
  );
  const unignored = review.items.filter((item) => item.unignored !== undefined && isWanted(item));
  const claude = below === undefined ? (review.claude?.items ?? []) : [];
  const deletions = listed.filter(({ change }) => isDeletion(change));
  const others = listed.filter(({ change }) => !isDeletion(change));
  const lines = new ListLines(colour);
  const parts = [
    lines.byFolder(others, below),
    ...heading(
      `un-ignored by the session, and withheld (${unignored.length}):`,
      lines.byFolder(unignored, below, OTHER_LINES_WANTED),
    ),
    ...heading(
      "Claude's data:",
      claude.map((item) => lines.whole(item)),
    ),
    ...heading(`deletions (${deletions.length}):`, lines.byFolder(deletions, below, OTHER_LINES_WANTED)),
  ];
  const all = parts.flat();
  if (all.length === 0) return [below === undefined ? 'no changes' : `no changes below ${cleanLine(below)}`];
  return lines.hasClosed ? [...all, '', 'l FOLDER lists the changes below a folder'] : all;
}

function heading(title: string, lines: readonly string[]): string[][] {
  return lines.length === 0 ? [] : [['', title, ...lines]];
}

const SIGNS = { created: '+', modified: '~', deleted: '-', mode: 'm', type: 't' } as const;
const WORDS = { '~': 'modified', '+': 'created', r: 'renamed', '-': 'deleted', m: 'mode', t: 'kind' } as const;

class ListLines {
  /** Whether the list has a folder that is shown as one line with counts. */
  hasClosed = false;
  private readonly colours;

  constructor(colour: boolean) {
    this.colours = createColors(colour);
  }

  /** '~ src/x', with what the name is called. */
  whole(item: ReviewItem, name: string = item.change.path): string {
    const { state, unignored, renamedFrom } = item;
    const from = renamedFrom === undefined ? '' : ` (from ${cleanLine(renamedFrom)}${percent(item)})`;
    const shown = unignored ?? state;
    const mark = shown === 'clean' ? '' : `  ${shown.toUpperCase()}`;
    const text = `${signOf(item)} ${cleanLine(name)}${from}${mark}`;
    return shown === 'blocked' ? this.colours.red(text) : shown === 'suspect' ? this.colours.yellow(text) : text;
  }

  byFolder(items: readonly ReviewItem[], below = '', wanted = LINES_WANTED): string[] {
    if (items.length <= MAX_FLAT_CHANGES) return items.map((item) => this.whole(item));
    const root = folderTree(items, below);
    openFolders(root, wanted);
    return this.linesOf(root);
  }

  private linesOf(node: FolderNode): string[] {
    const lines: string[] = [];
    const own = node.items.map((item) => this.whole(item, nameIn(item, node.path)));
    if (node.path !== '' && own.length > 0) {
      lines.push(this.colours.bold(`${cleanLine(node.path)}/`));
      for (const line of own) lines.push(`  ${line}`);
    } else for (const line of own) lines.push(line);
    for (const folder of node.folders.values()) {
      for (const line of folder.isOpen ? this.linesOf(folder) : this.closedLines(folder)) lines.push(line);
    }
    return lines;
  }

  /** 'src/parts/  120 files: 100 modified, 20 created', and what needs its own look. */
  private closedLines(node: FolderNode): string[] {
    this.hasClosed = true;
    const all = itemsBelow(node);
    const numbers = new Map<string, number>();
    for (const item of all) numbers.set(WORDS[signOf(item)], (numbers.get(WORDS[signOf(item)]) ?? 0) + 1);
    const said = Object.values(WORDS).flatMap((word) => {
      const count = numbers.get(word);
      return count === undefined ? [] : [`${count.toLocaleString('en')} ${word}`];
    });
    const line = `${this.colours.bold(`${cleanLine(node.path)}/`)}  ${amount(all.length, 'files')}: ${said.join(', ')}`;
    const remarkable = all.filter(
      (item) => item.state === 'suspect' || item.state === 'blocked' || item.unignored === 'suspect',
    );
    return [line, ...remarkable.map((item) => `  ${this.whole(item, nameIn(item, node.path))}`)];
  }
}

function signOf({ change, renamedFrom }: ReviewItem): keyof typeof WORDS {
  return renamedFrom === undefined ? SIGNS[change.kind] : 'r';
}

function percent({ similarity }: ReviewItem): string {
  return similarity === undefined || similarity === 100 ? '' : `, ${similarity}% alike`;
}

function nameIn({ change }: ReviewItem, folder: string): string {
  return folder === '' ? change.path : change.path.slice(folder.length + 1);
}

interface FolderNode {
  readonly path: string;
  /** Directly in it. */
  readonly items: ReviewItem[];
  readonly folders: Map<string, FolderNode>;
  /** With everything below. */
  count: number;
  isOpen: boolean;
}

/** Folders are left out where an entry in them is listed. */
function folderTree(items: readonly ReviewItem[], below: string): FolderNode {
  const root = newFolder(below);
  const parents = new Set<string>();
  for (const { change } of items) for (const folder of foldersAbove(change.path)) parents.add(folder);
  for (const item of items) {
    const { path } = item.change;
    if (parents.has(path) && item.state === 'clean') continue;
    let node = root;
    node.count += 1;
    for (let at = path.indexOf('/', below.length + 1); at > 0; at = path.indexOf('/', at + 1)) {
      const folder = path.slice(0, at);
      const next = node.folders.get(folder) ?? newFolder(folder);
      node.folders.set(folder, next);
      next.count += 1;
      node = next;
    }
    node.items.push(item);
  }
  root.isOpen = true;
  return root;
}

function newFolder(path: string): FolderNode {
  return { path, items: [], folders: new Map(), count: 0, isOpen: false };
}

/** Opens folders, the highest and then the smallest first, while the list stays as long as is wanted. */
function openFolders(root: FolderNode, wanted: number): void {
  let lines = root.items.length + root.folders.size;
  for (let level = [...root.folders.values()]; level.length > 0; ) {
    const next: FolderNode[] = [];
    for (const node of level.sort((a, b) => a.count - b.count)) {
      const added = node.items.length + node.folders.size - (node.items.length > 0 ? 0 : 1);
      // A folder whose only entry is a folder gets no line of its own.
      if (lines + added > wanted && !(node.items.length === 0 && node.folders.size === 1)) continue;
      node.isOpen = true;
      lines += added;
      for (const folder of node.folders.values()) next.push(folder);
    }
    level = next;
  }
}

function itemsBelow(node: FolderNode): ReviewItem[] {
  return [...node.items, ...[...node.folders.values()].flatMap(itemsBelow)];
}
