import { isDotGitName } from '../../core/git/names.ts';
import type { Found } from '../general-rules/rule.ts';
import type { Scene } from '../input.ts';

const MANIFEST = /^(?:(.*)\/)?\.claude-plugin\/(plugin|marketplace)\.json$/;
/** What a plugin brings: the assistant runs, starts or follows it. */
const PARTS =
  /^(hooks|hooks-handlers|monitors|commands|agents|skills|output-styles|servers|scripts|bin)\/|^(\.mcp|\.lsp|settings)\.json$/;
const PARTS_ANYWHERE =
  /(^|\/)(hooks|hooks-handlers|monitors|commands|agents|skills|output-styles|servers)\/|(^|\/)(\.mcp|\.lsp)\.json$/;

/** A folder with one of these is a skill or an extension: an assistant runs and follows the files in it. */
const FOLDER_OF = /^(?:(.*)\/)?(SKILL\.md|gemini-extension\.json)$/i;
const PARTS_OF_SKILL = /^(scripts|references|assets|agents|hooks|commands|skills)\//;

/** Findings for the parts of a plugin of an assistant, of an extension or of a skill, in a project that has some. */
export function pluginParts(scene: Scene): readonly Found[] {
  const changed = scene.input.changes.filter(
    ({ path, after, ignored }) => ignored !== true && after !== undefined && after.kind !== 'dir' && path.includes('/'),
  );
  if (changed.length === 0) return [];
  const roots = rootsOf(scene);
  if (roots.size === 0) return [];
  return changed.flatMap(({ path }) => {
    if (path.split('/').some(isDotGitName)) return [];
    for (const [root, kind] of roots) {
      if (root !== '' && !path.startsWith(`${root}/`)) continue;
      const inner = path.slice(root === '' ? 0 : root.length + 1);
      const isPart = kind === 'folder' ? PARTS_OF_SKILL.test(inner) : PARTS.test(inner) || kind === 'marketplace';
      if (isPart && (kind === 'folder' || PARTS_ANYWHERE.test(path))) return [{ path }];
    }
    return [];
  });
}

/** Folders that a manifest names a plugin or a list of plugins, also one of this session. */
function rootsOf({ input }: Scene): ReadonlyMap<string, string> {
  const roots = new Map<string, string>();
  const add = (path: string): void => {
    const [, folder = '', sign] = FOLDER_OF.exec(path) ?? [];
    if (sign !== undefined && !roots.has(folder)) roots.set(folder, 'folder');
    if (!path.includes('.claude-plugin/')) return;
    const [, root = '', kind] = MANIFEST.exec(path) ?? [];
    if (kind !== undefined && roots.get(root) !== 'marketplace') roots.set(root, kind);
  };
  for (const path of input.base?.paths ?? []) add(path);
  for (const { path, after } of input.changes) if (after !== undefined) add(path);
  return roots;
}
