import { RunClaudeError } from '../../core/errors.ts';
import { treeAbove } from '../../core/git/index-entries.ts';
import { type GitArguments, runGit } from '../../core/host/git.ts';
import { type GenerationFiles, openGenerationFiles } from '../base/generations/newest-files.ts';
import type { HostEntry } from './scan-project.ts';
import type { TrackedContent } from './tracked.ts';

/** Content of these many bytes together is asked of git at once. */
const BATCH_BYTES = 32 * 1_048_576;

/** Where content of the project from before a session can be had besides the session's own record. */
export interface EarlierSources {
  /** Of the base that sessions in copy mode keep. */
  readonly generation: GenerationFiles | undefined;
  readonly tracked: readonly TrackedContent[];
}

/** The places that a snapshot names. */
export function earlierSources(
  { generation, tracked }: { readonly generation: number | undefined; readonly tracked: readonly TrackedContent[] },
  baseDir: string,
): EarlierSources {
  return { generation: generation === undefined ? undefined : openGenerationFiles(baseDir, generation), tracked };
}

/** A file as it was before the session. */
export interface EarlierFile {
  readonly name: string;
  readonly seen: HostEntry;
  /** Git's index says that git has its content. */
  readonly isTracked: boolean;
}

/** The contents that these files had before the session, of those files whose content can be had. */
export async function* readElsewhere(
  files: readonly EarlierFile[],
  { generation, tracked }: EarlierSources,
): AsyncGenerator<readonly [name: string, bytes: Buffer]> {
  const inGit: EarlierFile[] = [];
  for (const file of files) {
    const bytes = generation?.read(file.name, file.seen);
    if (bytes !== undefined) yield [file.name, bytes];
    else if (file.isTracked) inGit.push(file);
  }
  for (const [repository, named] of byRepository(inGit, tracked)) {
    for (const batch of batchesOf(named)) {
      const output = await askGit(repository, ['cat-file', '--batch', '--buffer'], batch);
      let at = 0;
      for (const { file } of batch) {
        const end = output.indexOf(10, at);
        if (end < 0) break;
        const size = blobSize(output.toString('latin1', at, end));
        at = end + 1;
        if (size === undefined) continue;
        // A filter or another line end: what git stores is not what the file held.
        if (size === file.seen.size) yield [file.name, output.subarray(at, at + size)];
        at += size + 1;
      }
    }
  }
}

/** Those of the files whose content these repositories have. */
export async function findInGit(
  files: readonly EarlierFile[],
  tracked: readonly TrackedContent[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const asked = files.filter(({ isTracked }) => isTracked);
  for (const [repository, named] of byRepository(asked, tracked)) {
    const output = await askGit(repository, ['cat-file', '--batch-check', '--buffer'], named);
    const lines = output.toString('latin1').split('\n');
    for (const [at, { file }] of named.entries())
      if (blobSize(lines[at] ?? '') === file.seen.size) found.add(file.name);
  }
  return found;
}

interface NamedFile {
  readonly file: EarlierFile;
  /** What git calls its content. */
  readonly object: string;
}

/** The files by the innermost repository that tracks them. A path with a line break cannot be asked for. */
function byRepository(
  files: readonly EarlierFile[],
  tracked: readonly TrackedContent[],
): ReadonlyMap<TrackedContent, NamedFile[]> {
  const innermostFirst = tracked.toSorted((a, b) => b.top.length - a.top.length);
  const found = new Map<TrackedContent, NamedFile[]>(innermostFirst.map((one) => [one, []]));
  for (const file of files) {
    const repository = innermostFirst.find(({ top }) => top === '' || file.name.startsWith(`${top}/`));
    const object = repository && objectOf(file.name, repository);
    if (repository === undefined || object === undefined || /[\n\udc80-\udcff]/.test(object)) continue;
    found.get(repository)?.push({ file, object });
  }
  return new Map([...found].filter(([, named]) => named.length > 0));
}

function objectOf(name: string, { top, trees, blobs }: TrackedContent): string | undefined {
  const inner = top === '' ? name : name.slice(top.length + 1);
  const dir = treeAbove(inner, trees);
  if (dir === undefined) return blobs.get(inner);
  return `${trees.get(dir)}:${dir === '' ? inner : inner.slice(dir.length + 1)}`;
}

function* batchesOf(named: readonly NamedFile[]): Generator<readonly NamedFile[]> {
  let [batch, bytes]: [NamedFile[], number] = [[], 0];
  for (const one of named) {
    batch.push(one);
    bytes += one.file.seen.size;
    if (bytes < BATCH_BYTES) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

/** What git answers; nothing where it cannot read the repository. */
async function askGit({ gitDir }: TrackedContent, args: GitArguments, named: readonly NamedFile[]): Promise<Buffer> {
  const input = Buffer.from(named.map(({ object }) => `${object}\n`).join(''));
  try {
    // Not in the project, which the agent wrote.
    return await runGit(args, { cwd: gitDir, gitDir, input });
  } catch (error) {
    if (error instanceof RunClaudeError) return Buffer.alloc(0);
    throw error;
  }
}

/** From `ID blob SIZE`. */
function blobSize(line: string): number | undefined {
  const size = /^[0-9a-f]{40,64} blob (\d+)$/.exec(line)?.[1];
  return size === undefined ? undefined : Number(size);
}
