import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseLfsPointer, writeLfsPointer } from '../../core/git/lfs-pointer.ts';
import { runGit } from '../../core/host/git.ts';
import { nameOfPath } from '../../core/text/path.ts';
import { lfsPaths } from '../commits/lfs/pointers.ts';
import { addLfsObject, lfsStore } from '../commits/lfs/store.ts';
import type { HeadTree, ScratchFile, ScratchTree } from './scratch-tree.ts';

interface LfsRequest {
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  readonly head: HeadTree;
  readonly scratch: ScratchTree;
  readonly files: ReadonlyMap<string, ScratchFile>;
}

/**
 * The files as a commit has them: a pointer in place of the content of each that the attributes give to Git LFS. Its content
 * is in the store of the user's repository then. Content that HEAD has as it is stays so.
 *
 * @throws {RunClaudeError} COMMITS_REFUSED where git cannot read the attributes; errors of the disk.
 */
export async function withLfsPointers(request: LfsRequest): Promise<ReadonlyMap<string, ScratchFile>> {
  const { project, env, head, scratch, files } = request;
  const isOfLfs = await findLfsFiles(request);
  if (isOfLfs.size === 0) return files;
  const old = await head.objects.read([...isOfLfs].flatMap((own) => scratch.laid.get(own)?.oid ?? []));
  const store = await lfsStore(project, env);
  const changed = new Map(files);
  for (const own of isOfLfs) {
    const { mode, content } = files.get(own) as ScratchFile;
    const isAsBefore = old.get(scratch.laid.get(own)?.oid ?? '')?.equals(content) === true;
    if (isAsBefore || content.length === 0 || parseLfsPointer(content) !== undefined) continue;
    const pointer = { oid: createHash('sha256').update(content).digest('hex'), size: content.length };
    const file = path.join(path.dirname(scratch.root), 'lfs-object');
    writeFileSync(file, content, { mode: 0o600 });
    addLfsObject(store, pointer, file);
    rmSync(file);
    changed.set(own, { mode, content: Buffer.from(writeLfsPointer(pointer)) });
  }
  return changed;
}

/** Attributes as the commit will have them: those of HEAD, with the changed files. */
async function findLfsFiles({ head, scratch, files }: LfsRequest): Promise<ReadonlySet<string>> {
  const regular = [...files].flatMap(([own, { mode }]) => (mode === '120000' ? [] : [own]));
  if (regular.length === 0) return new Set();
  const top = await head.objects.topLevel();
  const changed = new Map<string, string | undefined>();
  for (const own of new Set([...scratch.laid.keys(), ...regular])) {
    if (nameOfPath(own) !== '.gitattributes') continue;
    const input = files.get(own)?.content;
    const words = ['hash-object', '-t', 'blob', '-w', '--no-filters', '--stdin'] as const;
    const oid = input && (await runGit(words, { cwd: top, input })).toString().trim();
    changed.set(head.prefix + own, oid);
  }
  const indexFile = path.join(path.dirname(scratch.root), 'attributes-index');
  const paths = regular.map((own) => head.prefix + own);
  const found = lfsPaths(top, head.commit, paths, { indexFile, changed });
  return new Set(regular.filter((own) => found.has(head.prefix + own)));
}
