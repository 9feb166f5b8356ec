import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RunClaudeError } from '../../../core/errors.ts';
import { makePrivateDir } from '../../../core/store/record.ts';
import type { Mount } from '../../../core/types/engine.ts';
import type { Plan } from '../../../core/types/plan.ts';
import type { Runtime } from '../../../core/types/runtime.ts';
import { taskSpec } from '../../../engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../../engines/engine/hardening/seccomp.ts';

const INSIDE = '/kept';

/**
 * Writes what a volume of the engine holds to `file`, as a tar. The agent wrote it, so it is never unpacked here. A file
 * that exists is left as it is: an earlier command kept the volume already.
 *
 * @throws {RunClaudeError} TMPDIR_NOT_KEPT when it holds more than the session may write, or cannot be read or written
 */
export async function keepVolume(
  engine: Runtime,
  plan: Pick<Plan, 'sessionId' | 'image' | 'diskMb'>,
  mount: (target: string, readonly: boolean) => Mount,
  file: string,
): Promise<void> {
  if (existsSync(file)) return;
  makePrivateDir(path.dirname(file));
  const partial = `${file}.partial`;
  try {
    await writeTar(engine, plan, mount(INSIDE, true), partial);
    renameSync(partial, file);
  } catch (cause) {
    rmSync(partial, { force: true });
    throw new RunClaudeError('TMPDIR_NOT_KEPT', `${file} cannot be written: ${(cause as Error).message}`, {
      cause,
      hint: "The agent's home is still in the engine, until the next run-claude gc.",
    });
  }
}

async function writeTar(
  engine: Runtime,
  { sessionId, image, diskMb }: Pick<Plan, 'sessionId' | 'image' | 'diskMb'>,
  mount: Mount,
  file: string,
): Promise<void> {
  const container = await engine.create(
    taskSpec({
      sessionId,
      suffix: 'keep',
      image,
      seccomp: await readSeccompProfile(),
      user: '0:0',
      capabilities: ['DAC_READ_SEARCH'],
      argv: ['/bin/tar', '--sparse', '--numeric-owner', '-C', INSIDE, '-cf', '-', '.'],
      mounts: [mount],
      stdin: 'none',
    }),
  );
  try {
    let errors = '';
    container.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString('latin1')).slice(-500);
    });
    const out = createWriteStream(file, { flags: 'w', mode: 0o600 });
    const written = pipeline(container.stdout, atMost(diskMb * 1024 ** 2), out);
    // Awaited below; a container that cannot start is reported first.
    written.catch(() => undefined);
    await container.start();
    await written;
    const status = await container.wait();
    if (status !== 0) throw new Error(`tar ended with ${status}: ${errors.trim()}`);
  } finally {
    await container.remove();
  }
}

function atMost(bytes: number): Transform {
  let total = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      total += chunk.length;
      if (total > bytes) done(new Error(`it is larger than ${bytes} bytes (--disk)`));
      else done(null, chunk);
    },
  });
}
