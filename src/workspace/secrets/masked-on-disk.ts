import { type Dirent, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { secretKind } from '../../core/secrets/kinds.ts';
import { decodeBytes } from '../../core/text/path.ts';
import { gitPathsOnDisk } from '../scan/project-ignores.ts';
import { fsPath } from '../scan/walk.ts';
import { findSecretsOf } from './find-secrets.ts';
import { secretFiles } from './mask-secrets.ts';
import { placeOf } from './search.ts';

interface SizedFile {
  readonly path: string;
  readonly size: number;
}

/**
 * Whether a file of the project at `root` is masked in a copy that is made now, by the rules of a copy: a copy of a masked
 * file is one too. For single files, of which most are tracked: for any other one the project's secret files are listed.
 */
export function maskedOnDisk(root: string, unmask: readonly string[]): (path: string) => boolean {
  const git = gitPathsOnDisk(root);
  const read = (one: string): Buffer => readFileSync(fsPath(`${root}/${one}`));
  let named: readonly SizedFile[] | undefined;
  return (asked) => {
    const stat = lstatSync(fsPath(`${root}/${asked}`), { throwIfNoEntry: false });
    if (stat?.isFile() !== true || git.isTracked(asked)) return false;
    named ??= [...secretNamesIn(root, '')];
    const files = [...named.filter(({ path }) => path !== asked), { path: asked, size: stat.size }];
    const found = findSecretsOf(files, { ...git, read });
    return secretFiles(found, git, unmask, read).some(({ path, state }) => path === asked && state === 'masked');
  };
}

/** The files with names of secrets, outside of folders of packages. */
function* secretNamesIn(root: string, dir: string): Generator<SizedFile> {
  const { prefix, isSearched } = placeOf(dir);
  if (!isSearched) return;
  for (const entry of entriesOf(fsPath(`${root}/${dir}`))) {
    const path = prefix + decodeBytes(entry.name);
    if (entry.isDirectory()) yield* secretNamesIn(root, path);
    else if (entry.isFile() && secretKind(path) !== undefined)
      yield { path, size: lstatSync(fsPath(`${root}/${path}`)).size };
  }
}

/** Nothing of a folder that cannot be listed: no copy has its files. */
function entriesOf(where: string | Buffer): readonly Dirent<Buffer>[] {
  try {
    return readdirSync(where, { withFileTypes: true, encoding: 'buffer' });
  } catch {
    return [];
  }
}
