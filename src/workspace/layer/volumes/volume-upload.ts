import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { RunClaudeError } from '../../../core/errors.ts';
import { parseUser } from '../../../core/host/user.ts';
import { openProgress } from '../../../core/progress/open-progress.ts';
import { encodeBytes, parentPath } from '../../../core/text/path.ts';
import type { Tell } from '../../../core/types/event.ts';
import type { Runtime } from '../../../core/types/runtime.ts';
import { taskSpec } from '../../../engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../../engines/engine/hardening/seccomp.ts';
import { type Differences, rowAt, type Snapshot } from '../../scan/snapshot.ts';
import { type TarItem, writeTar } from './tar-write.ts';

/** Its exit status is that of tar, cp or rm, whose error output becomes the error message. */
const RECEIVE = `set -eu
cd /base; target=$1 from=$2 removals=$3 nonce=$4 unzip=$5; shift 5
for one in *; do
  kept=; for name; do if [ "$one" = "$name" ]; then kept=1; fi; done
  if [ -z "$kept" ] && [ "$one" != '*' ]; then rm -rf -- "$one"; fi
done
if [ -n "$from" ] && [ "$from" != "$target" ]; then cp -al -- "$from" "$target"; fi
mkdir -p "$target/tree"
head -c "$removals" | (cd "$target/tree" && xargs -0 -r rm -rf --)
tar -x -p $unzip --numeric-owner --same-owner --delay-directory-restore -C "$target/tree" -f -
rm -f "$target/nonce"; printf %s "$nonce" > "$target/nonce"`;

export interface UploadOptions {
  readonly engine: Runtime;
  /** The generation of this machine to be sent. Precondition: it does not change while it is sent. */
  readonly generation: string;
  /** 'uid:gid' inside. */
  readonly user: string;
  readonly image: string;
  readonly sessionId: string;
  readonly tell: Tell;
}

/** One generation on its way into a volume. */
export interface Sending {
  readonly volume: string;
  /** Its place in the volume. */
  readonly sent: { readonly generation: number; readonly nonce: string };
  readonly from: string;
  readonly kept: readonly string[];
  readonly differences: Differences;
  readonly snapshot: Snapshot;
}

/** Streams removals, then the tar of what is new, into a container that has nothing but the volume. */
export async function sendToVolume(options: UploadOptions, sending: Sending): Promise<void> {
  const { engine, tell } = options;
  const { volume, sent, differences } = sending;
  const { uid, gid } = parseUser(options.user);
  const removals = removalList(differences);
  const zip = isFar(engine.facts.endpoint);
  const argv = [`g${sent.generation}`, sending.from, String(removals.length), sent.nonce, zip ? '-z' : ''];
  const container = await engine.create(
    taskSpec({
      sessionId: options.sessionId,
      suffix: 'receive',
      image: options.image,
      seccomp: await readSeccompProfile(),
      user: '0:0',
      capabilities: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID'],
      argv: ['/bin/bash', '-c', RECEIVE, 'receive', ...argv, ...sending.kept],
      mounts: [{ kind: 'volume', volume, target: '/base', readonly: false }],
      stdin: 'stream',
    }),
  );
  try {
    let output = '';
    for (const stream of [container.stdout, container.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString('latin1')).slice(-1000);
      });
    }
    await container.start();
    const { stdin } = container;
    if (stdin === undefined) throw uploadFailed('the container has no input');
    if (removals.length > 0) stdin.write(removals);
    const tar = Readable.from(counted(writeTar(itemsOf(options.generation, sending), { uid, gid }), tell));
    // A container that ended early closes the stream; its status and output say why.
    const streamed = (zip ? pipeline(tar, createGzip({ level: 1 }), stdin) : pipeline(tar, stdin)).then(
      () => undefined,
      (error: Error) => error,
    );
    const status = await container.wait();
    const broken = await streamed;
    if (status !== 0) throw uploadFailed(`${output.trim()} (status ${status})`);
    if (broken instanceof RunClaudeError) throw broken;
  } finally {
    await container.remove();
  }
}

function uploadFailed(why: string): RunClaudeError {
  return new RunClaudeError('VOLUME_UPLOAD_FAILED', `the project could not be sent to the engine: ${why}`, {
    hint: `${/no space left|quota/i.test(why) ? "The engine's disk is full: See what takes it with: docker system df. " : ''}The next start sends the project anew.`,
  });
}

async function* counted(chunks: AsyncIterable<Buffer>, tell: Tell): AsyncGenerator<Buffer> {
  using progress = openProgress(tell, 'Sending the project to the engine');
  let done = 0;
  for await (const chunk of chunks) {
    yield chunk;
    done += chunk.length;
    progress.count({ done, unit: 'bytes' });
  }
}

/** Whether the engine is behind a network, where compression is worth its processor time. */
function isFar(endpoint: string): boolean {
  return /^(ssh|tcp|https?):\/\//.test(endpoint) && !/^\w+:\/\/(localhost|127\.|\[::1\])/.test(endpoint);
}

/** Paths that were deleted or will be replaced, each ended by a NUL; not those of directories that stay. */
function removalList(differences: Differences): Buffer {
  const parts: Buffer[] = [];
  for (const { path: one, from, to } of differences) {
    if (from === undefined || (from.kind === 'd' && to?.kind === 'd')) continue;
    parts.push(encodeBytes(`./${one}`), Buffer.of(0));
  }
  return Buffer.concat(parts);
}

/** What is new or differs, and every directory in which something was done, since that changed its time. */
function* itemsOf(generation: string, { differences, snapshot }: Sending): Generator<TarItem> {
  const source = (one: string): string => (one === '' ? `${generation}/tree` : `${generation}/tree/${one}`);
  const firstOfInode = new Map<string, string>();
  const directories = new Set<string>(['']);
  for (const { path: one, to } of differences) {
    // A parent that is new has come already: the differences are sorted so.
    const parent = parentPath(one);
    if (!directories.has(parent) && rowAt(snapshot, parent)?.kind === 'd')
      yield { path: parent, source: source(parent) };
    directories.add(parent);
    if (to === undefined || (to.kind === 'd' && directories.has(one))) continue;
    if (to.kind === 'd') directories.add(one);
    const inode = `${to.dev}:${to.ino}`;
    const link = to.kind === 'f' && to.nlink > 1 ? firstOfInode.get(inode) : undefined;
    if (to.kind === 'f' && to.nlink > 1 && link === undefined) firstOfInode.set(inode, one);
    yield link === undefined ? { path: one, source: source(one) } : { path: one, source: source(one), link };
  }
  yield { path: '', source: source('') };
}
