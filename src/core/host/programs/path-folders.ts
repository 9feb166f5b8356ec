import path from 'node:path';
import { realFolderOf } from './agent-folders.ts';
import { originalPath } from './start-program.ts';

/**
 * The folders of PATH that are in a project, from its top; '' is the top itself. Those that do not exist yet count: a
 * session can make them. A relative folder of PATH counts as one of the project's top.
 */
export function pathFoldersIn(root: string, searched = originalPath): readonly string[] {
  const folders = searched.split(':').flatMap((named) => {
    const folder = path.resolve(root, named);
    const relative = path.relative(root, realFolderOf(folder) ?? folder);
    return relative === '..' || relative.startsWith('../') ? [] : [relative];
  });
  return [...new Set(folders)];
}
