import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import type { Container, ContainerSpec } from '../../core/types/engine.ts';
import { refuseWeaker } from '../engine/containers/container.ts';
import { splitOutput } from '../engine/containers/streams.ts';
import { isProved, weakerIn, withProof } from '../engine/hardening/proof.ts';
import { printable } from '../remote/printable.ts';
import { EXIT_MARK } from './node-script.ts';
import { rootFiles } from './root-files.ts';
import type { AttachedProgram } from './scheduler.ts';
import type { SessionJob } from './session-job.ts';
import type { JobTarget } from './target.ts';
import { type BundleOptions, type BundleParts, bundleText } from './write-bundles.ts';

export interface InJob extends BundleParts {
  readonly options: BundleOptions & { readonly target: JobTarget };
  readonly job: SessionJob;
  readonly filled: Map<string, string>;
}

/** A container of a job: a program next to the job gets its bundle, and runs it with these streams. */
export async function createInJob(spec: ContainerSpec, inJob: InJob): Promise<Container> {
  const { options, job } = inJob;
  const rootfs = await rootFiles(options.local, spec.image, options);
  for (const mount of spec.mounts)
    if (mount.kind === 'volume' && mount.fill === true) inJob.filled.set(mount.volume, path.join(rootfs, mount.target));
  const id = `${spec.name}-${randomBytes(4).toString('hex')}`;
  const connection = new PassThrough();
  const proved = isProved(withProof(spec));
  const output = splitOutput(connection, { tty: true, headLines: proved ? 1 : 0 });
  const stderr = new PassThrough({ highWaterMark: 1 << 20 });
  const stdin = spec.stdin === 'stream' ? new PassThrough() : undefined;
  let program: AttachedProgram | undefined;
  let status: Promise<number | undefined> | undefined;
  let markStarted: () => void = () => undefined;
  const started = new Promise<void>((resolve) => {
    markStarted = resolve;
  });
  const words = (action: string, ...more: string[]): string[] => [action, job.work(), id, ...more];
  const end = async (signal: string): Promise<void> => {
    if (program === undefined) return;
    const killing = await job.start(words('kill', signal));
    killing.stdin.end();
    await killing.ended;
  };
  let isEnded = false;
  let said = '';
  const tail = (): string => said.trim().split('\n').at(-1) ?? '';
  return {
    id,
    name: spec.name,
    stdout: output.stdout,
    stderr,
    stdin,
    async start() {
      const bundle = bundleText(spec, { ...inJob, rootfs });
      program = await job.start(words('run'));
      program.stderr.on('data', (chunk: Buffer) => {
        said = (said + chunk.toString('latin1')).slice(-1000);
      });
      status = statusIn(program.stderr, stderr);
      void program.ended.then(() => {
        isEnded = true;
      });
      (program.stdout as NodeJS.ReadableStream).pipe(connection);
      program.stdin.write(bundle);
      if (stdin === undefined) program.stdin.end();
      else stdin.pipe(program.stdin);
      markStarted();
      if (!proved) return;
      const head = await output.head;
      if (head === '' && (await status) === undefined) throw await job.lost(tail());
      // The agent's program has not run: this is the runtime's own.
      refuseWeaker(weakerIn(head), spec.name, runtimeSaid(said));
    },
    async wait() {
      await started;
      const value = await status;
      if (value !== undefined) return value;
      throw await job.lost(tail());
    },
    kill: async (signal) => (isEnded ? undefined : end(signal)),
    detach: () => program?.close(),
    async remove() {
      stdin?.end();
      if (program === undefined || isEnded) return;
      await end('KILL').catch(() => undefined);
      program.close();
    },
  };
}

/** The last line before the exit status, as it is shown in messages. Pure. */
export function runtimeSaid(stderr: string): string {
  const [before = ''] = stderr.split(EXIT_MARK);
  return printable(before.trim().split('\n').at(-1) ?? '');
}

/** What a program wrote to its error output, without the last line, which is the node's: the exit status. */
async function statusIn(from: NodeJS.ReadableStream, to: PassThrough): Promise<number | undefined> {
  let held = '';
  for await (const chunk of from) {
    held += (chunk as Buffer).toString('latin1');
    const mark = held.lastIndexOf(EXIT_MARK[0] as string);
    const passed = mark === -1 ? held : held.slice(0, mark);
    // A reader that is slow, or absent, must not stop the program.
    if (!to.writableNeedDrain) to.write(Buffer.from(passed, 'latin1'));
    held = held.slice(passed.length);
  }
  const found = held.startsWith(EXIT_MARK) ? /^\d{1,3}/.exec(held.slice(EXIT_MARK.length)) : undefined;
  to.end();
  return found === undefined || found === null ? undefined : Number(found[0]);
}
