import type { Change } from '../../../src/core/types/entry.ts';
import { type TreeEntry, treeEntries } from '../tree-facts.ts';

const KIND = 0o170000;

/** Both trees in full: 'kind path', with what is there now, of all that differs; names of one inode as one line more. */
export function compareFully(before: string, after: string): string[] {
  const [was, is] = [treeEntries(before), treeEntries(after)];
  was.delete('.');
  is.delete('.');
  const found: string[] = [];
  const groups = new Map<string, string[]>();
  for (const [name, now] of is) {
    const kind = changeOf(was.get(name), now);
    if (kind === undefined) continue;
    found.push(`${kind} ${name} ${now.content}`);
    if (now.group !== '') groups.set(now.group, [...(groups.get(now.group) ?? []), name]);
  }
  for (const name of was.keys()) if (!is.has(name)) found.push(`deleted ${name} `);
  return [...found, ...groupLines(groups)].sort();
}

function changeOf(was: TreeEntry | undefined, now: TreeEntry): Change['kind'] | undefined {
  if (was === undefined) return 'created';
  if ((was.mode & KIND) !== (now.mode & KIND)) return 'type';
  if (was.content !== now.content) return 'modified';
  return was.mode === now.mode ? undefined : 'mode';
}

/** The same lines, as the collector says it. */
export function changeLines(changes: readonly Change[]): string[] {
  const groups = new Map<string, string[]>();
  for (const { path, after } of changes) {
    if (after?.linkGroup !== undefined) groups.set(after.linkGroup, [...(groups.get(after.linkGroup) ?? []), path]);
  }
  const lines = changes.map(({ kind, path, after }) => `${kind} ${path} ${after?.digest ?? after?.target ?? ''}`);
  return [...lines, ...groupLines(groups)].sort();
}

function groupLines(groups: ReadonlyMap<string, readonly string[]>): string[] {
  return [...groups.values()].map((names) => `one inode: ${names.toSorted().join(' ')}`);
}
