import { createHash, randomBytes } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { RunClaudeError } from '../../core/errors.ts';
import { spawn } from '../../core/host/programs/start-program.ts';
import { makePrivateDir } from '../../core/store/record.ts';
import type { Tell } from '../../core/types/event.ts';
import type { ImageRuntime } from '../../core/types/runtime.ts';
import { taskSpec } from '../engine/hardening/hardened.ts';
import { readSeccompProfile } from '../engine/hardening/seccomp.ts';
import { markUsed } from './session-dir.ts';

/** Nothing of these is part of an image: the runtime mounts them. */
const LEFT_OUT = ['./proc/*', './sys/*', './dev/*', './tmp/*', './etc/resolv.conf', './etc/hosts', './etc/hostname'];

/**
 * The unpacked root of an image in the shared directory, made once for its id: a container of the user's own engine writes
 * it as an archive. Returns the directory.
 *
 * @throws {RunClaudeError} IMAGE_MISSING, IMAGE_EXPORT_FAILED
 */
export async function rootFiles(
  engine: ImageRuntime,
  image: string,
  { shared, tell }: { readonly shared: string; readonly tell: Tell },
): Promise<string> {
  const facts = await engine.images.facts(image);
  if (facts === undefined)
    throw new RunClaudeError('IMAGE_MISSING', `the engine of this machine does not have ${image}`);
  const key = createHash('sha256').update(facts.id).digest('hex').slice(0, 32);
  const dir = path.join(shared, 'images', key);
  const rootfs = path.join(dir, 'rootfs');
  if (existsSync(rootfs)) {
    markUsed(dir);
    return rootfs;
  }
  tell({ kind: 'message', level: 'info', text: `Unpacking the image in ${path.join(shared, 'images')}` });
  makePrivateDir(dir);
  const part = path.join(dir, `part-${randomBytes(6).toString('hex')}`);
  makePrivateDir(part);
  try {
    await unpack(engine, image, part);
    renameSync(part, rootfs);
  } catch (error) {
    // Another command may have been first.
    if (!existsSync(rootfs)) throw error;
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
  return rootfs;
}

async function unpack(engine: ImageRuntime, image: string, into: string): Promise<void> {
  const sessionId = `image-${randomBytes(6).toString('hex')}`;
  const spec = taskSpec({
    sessionId,
    suffix: 'export',
    image,
    seccomp: await readSeccompProfile(),
    user: '0:0',
    capabilities: ['DAC_READ_SEARCH'],
    argv: ['/bin/tar', '-c', '--one-file-system', ...LEFT_OUT.map((one) => `--exclude=${one}`), '-C', '/', '.'],
    mounts: [],
    stdin: 'none',
  });
  // Without a tmpfs over /run, in which the image has the directory of the gateway's sockets.
  const container = await engine.create({ ...spec, mounts: [] });
  try {
    container.stderr.resume();
    // An ordinary user owns everything: on the node that is uid 0 inside.
    const words = ['-x', '--no-same-owner', '--same-permissions', '-C', into, '-f', '-'];
    const tar = spawn('tar', words, { cwd: '/', stdio: ['pipe', 'ignore', 'pipe'] });
    let errors = '';
    tar.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString('utf8')).slice(-500);
    });
    const ended = new Promise<number>((resolve) => {
      tar.on('error', () => resolve(127));
      tar.on('close', (status) => resolve(status ?? 1));
    });
    await container.start();
    await pipeline(container.stdout, tar.stdin).catch(() => undefined);
    const [status, written] = await Promise.all([ended, container.wait()]);
    if (status !== 0 || written !== 0)
      throw new RunClaudeError('IMAGE_EXPORT_FAILED', `the image could not be unpacked in ${into}: ${errors.trim()}`, {
        hint: 'Is there room in the shared directory of [slurm], and may you write there?',
      });
  } finally {
    await container.remove();
  }
}
