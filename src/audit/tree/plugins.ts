import { isDotGitName } from '../../git/names.ts';
import { type Hit, hitOf } from '../hit.ts';
import type { Scene } from '../input.ts';

const MANIFEST = /^(?:(.*)\/)?\.claude-plugin\/(plugin|marketplace)\.json$/;
/** What a plugin brings: the assistant runs, starts or follows it. */
const PARTS =
  /^(hooks|hooks-handlers|monitors|commands|agents|skills|output-styles|servers|scripts|bin)\/|^(\.mcp|\.lsp|settings)\.json$/;
const PARTS_ANYWHERE =
  /(^|\/)(hooks|hooks-handlers|monitors|commands|agents|skills|output-styles|servers)\/|(^|\/)(\.mcp|\.lsp)\.json$/;

/** Findings for the parts of a plugin of Claude Code, in a project that is one or has some. */
export function pluginHits(scene: Scene): Hit[] {
  const changed = scene.input.changes.filter(
    ({ path, after, ignored }) =>
      ignored !== true && after !== undefined && after.kind !== 'dir' && /[/.]/.test(path) && PARTS_ANYWHERE.test(path),
  );
  if (changed.length === 0) return [];
  const roots = rootsOf(scene);
  if (roots.size === 0) return [];
  return changed.flatMap(({ path }) => {
    if (path.split('/').some(isDotGitName)) return [];
    for (const [root, kind] of roots) {
      if (root !== '' && !path.startsWith(`${root}/`)) continue;
      const inner = path.slice(root === '' ? 0 : root.length + 1);
      if (PARTS.test(inner) || kind === 'marketplace') return [hitOf('agent-plugin', path)];
    }
    return [];
  });
}

/** Folders that a manifest names a plugin or a list of plugins, also one of this session. */
function rootsOf({ input }: Scene): ReadonlyMap<string, string> {
  const roots = new Map<string, string>();
  const add = (path: string): void => {
    if (!path.includes('.claude-plugin/')) return;
    const [, root = '', kind] = MANIFEST.exec(path) ?? [];
    if (kind !== undefined && roots.get(root) !== 'marketplace') roots.set(root, kind);
  };
  for (const path of input.base?.paths ?? []) add(path);
  for (const { path, after } of input.changes) if (after !== undefined) add(path);
  return roots;
}
