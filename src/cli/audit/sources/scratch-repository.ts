import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { runGit } from '../../../core/host/git.ts';
import { encodeBytes } from '../../../core/text/path.ts';

/**
 * Makes an empty repository in an empty directory of run-claude's own: it has no configuration but git's defaults, and what
 * is written there is removed with it. `objects`: directory of objects that it can read too.
 */
export async function makeScratchRepository(
  directory: string,
  objects?: string,
  format: 'sha1' | 'sha256' = 'sha1',
): Promise<string> {
  await runGit(['init', '--quiet', '--template=', `--object-format=${format}`, '--', directory]);
  if (objects !== undefined) {
    // git reads a line with a quotation mark in front as a string of C.
    const quoted = /^[^"#\n]/.test(objects) && !objects.includes('\n') ? objects : JSON.stringify(objects);
    const info = path.join(directory, '.git/objects/info');
    writeFileSync(path.join(info, 'alternates'), Buffer.concat([encodeBytes(quoted), Buffer.from('\n')]));
  }
  return directory;
}
