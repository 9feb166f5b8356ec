import type { Node, Tree } from './tree.ts';

/** What one path may become, by the rules of docs/explanation/applying.md and nothing of src. */
type Verdict = 'same' | 'take' | 'conflict';

const same = (a: Node | undefined, b: Node | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);

function content(node: Node | undefined): string {
  if (node === undefined) return 'nothing';
  return node.kind === 'file' ? `file ${node.text}` : node.kind === 'symlink' ? `link ${node.target}` : 'dir';
}

function mode(node: Node): number {
  return node.kind === 'symlink' ? 0 : node.mode;
}

/** The result of one path, taken alone. Text merges are not modelled: texts here are single lines, so they conflict. */
function alone(
  base: Node | undefined,
  session: Node | undefined,
  host: Node | undefined,
): { verdict: Verdict; node?: Node | undefined } {
  if (same(session, host)) return { verdict: 'same' };
  if (same(base, host)) return { verdict: 'take', node: session };
  if (session === undefined) {
    const modeOnly = content(base) === content(host);
    return modeOnly && host?.kind === 'dir' ? { verdict: 'take', node: undefined } : { verdict: 'conflict' };
  }
  if (host === undefined || base === undefined)
    return { verdict: content(session) === content(host) ? 'same' : 'conflict' };
  const modes =
    mode(session) === mode(base)
      ? mode(host)
      : mode(host) === mode(base) || mode(host) === mode(session)
        ? mode(session)
        : undefined;
  const kept = (node: Node): Node => (node.kind === 'symlink' ? node : { ...node, mode: modes as number });
  if (content(session) === content(host)) {
    if (modes === undefined) return { verdict: 'conflict' };
    return modes === mode(host) ? { verdict: 'same' } : { verdict: 'take', node: kept(session) };
  }
  if (content(base) === content(host)) {
    if (session.kind !== host.kind) return { verdict: 'take', node: session };
    return modes === undefined ? { verdict: 'conflict' } : { verdict: 'take', node: kept(session) };
  }
  if (content(base) === content(session) && base.kind === 'file' && host.kind === 'file') {
    return modes === undefined
      ? { verdict: 'conflict' }
      : modes === mode(host)
        ? { verdict: 'same' }
        : { verdict: 'take', node: kept(host) };
  }
  return { verdict: 'conflict' };
}

/** The host after an apply of the chosen paths. `chosen` has every folder that the session made. */
export function expectedHost(base: Tree, session: Tree, host: Tree, chosen: ReadonlySet<string>): Tree {
  const plan = new Map<string, Node | undefined>();
  for (const path of chosen) {
    if (same(base.get(path), session.get(path))) continue;
    const result = alone(base.get(path), session.get(path), host.get(path));
    if (result.verdict === 'take') plan.set(path, result.node);
  }
  // A folder gives way to something else only when all that is in it on the host goes.
  for (const path of [...plan.keys()].sort()) {
    const node = plan.get(path);
    if (host.get(path)?.kind !== 'dir' || node === undefined || node.kind === 'dir') continue;
    const below = [...host.keys()].filter((other) => other.startsWith(`${path}/`));
    if (below.every((other) => plan.has(other) && plan.get(other) === undefined)) continue;
    for (const other of [...plan.keys()]) if (other === path || other.startsWith(`${path}/`)) plan.delete(other);
  }
  for (let before = -1; before !== plan.size; ) {
    before = plan.size;
    for (const [path, node] of [...plan]) {
      const parent = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : undefined;
      if (node === undefined || parent === undefined) continue;
      const there = plan.has(parent) ? plan.get(parent) : host.get(parent);
      if (there?.kind !== 'dir') plan.delete(path);
    }
  }
  const result = new Map(host);
  for (const [path, node] of [...plan].sort(([a], [b]) => (a < b ? 1 : -1))) {
    if (node !== undefined) continue;
    if (
      [...result.keys()].some(
        (other) => other.startsWith(`${path}/`) && !(plan.has(other) && plan.get(other) === undefined),
      )
    )
      continue;
    result.delete(path);
  }
  for (const [path, node] of plan) if (node !== undefined) result.set(path, node);
  return result;
}
