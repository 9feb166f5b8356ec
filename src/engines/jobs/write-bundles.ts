import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import type { ContainerSpec } from '../../core/types/engine.ts';
import type { Tell } from '../../core/types/event.ts';
import type { ImageRuntime } from '../../core/types/runtime.ts';
import { taskSpec } from '../engine/hardening/hardened.ts';
import { readSeccompProfile } from '../engine/hardening/seccomp.ts';
import { jobBundle } from './bundle.ts';
import { RESTORE_BUNDLE, RESTORE_PROGRAM, SAVE_BUNDLE, SAVE_PROGRAM } from './node-script.ts';
import { rootFiles } from './root-files.ts';
import type { SessionDir, SharedVolumes } from './session-dir.ts';
import type { SessionJob } from './session-job.ts';

/** The directory of a volume on the node. */
export const volumeDir = (job: Pick<SessionJob, 'work'>, place: string): string =>
  path.join(job.work(), 'volumes', place);

export interface BundleOptions {
  /** The user's own engine: images are built there. */
  readonly local: ImageRuntime;
  /** A directory that this machine and the nodes share. */
  readonly shared: string;
  readonly uid: number;
  readonly gid: number;
  readonly tell: Tell;
}

/** What the bundles of a session's job are made of. */
export interface BundleParts {
  readonly options: BundleOptions;
  readonly job: Pick<SessionJob, 'work'>;
  readonly session: SessionDir;
  readonly bases: SharedVolumes;
  /** What a fresh volume starts with, a directory of the image, by its name: any container may be the first to mount it. */
  readonly filled: ReadonlyMap<string, string>;
}

interface Bundling extends BundleParts {
  readonly rootfs: string;
}

/**
 * What the node's script reads before the container's own input. The bundle has arguments and variables of the user in it:
 * it is in no file of the shared directory.
 *
 * @throws {RunClaudeError} WORKSPACE_GONE
 */
export function bundleText(spec: ContainerSpec, { options, job, session, bases, filled, rootfs }: Bundling): string {
  const { uid, gid, local } = options;
  const volumes: Record<string, string> = {};
  const overlays: Record<string, string> = {};
  const places: string[] = [];
  for (const mount of spec.mounts) {
    if (mount.kind !== 'volume') continue;
    if (bases.isShared(mount.volume)) {
      volumes[mount.volume] = bases.dirOf(mount.volume);
      continue;
    }
    const known = session.volume(mount.volume);
    if (known === undefined) throw new RunClaudeError('WORKSPACE_GONE', `the volume ${mount.volume} no longer exists`);
    if (known.overlay !== undefined) {
      overlays[mount.volume] = known.overlay;
      continue;
    }
    volumes[mount.volume] = volumeDir(job, known.place);
    places.push(`${known.place} ${filled.get(mount.volume) ?? '-'}`);
  }
  const place = { rootfs, arch: local.facts.arch, volumes, overlays, uid, gid };
  const config = plainJson(jobBundle(spec, place, { isProved: true }));
  return [config, ...places, '', ''].join('\n');
}

/** In one line of ASCII: shells differ in what they do with other bytes. */
function plainJson(value: object): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The containers that save and restore volumes: the job runs them also when no command is there to ask for it. */
export async function writeOwnBundles(
  options: BundleOptions,
  image: string,
  { runDir, work, sessionId }: { readonly runDir: string; readonly work: string; readonly sessionId: string },
): Promise<void> {
  const rootfs = await rootFiles(options.local, image, options);
  const { uid, gid, local } = options;
  const seccomp = await readSeccompProfile();
  const kept = path.join(path.dirname(runDir), 'kept');
  const volumes = { volumes: path.join(work, 'volumes'), kept };
  const make = (name: string, script: string, more: Partial<ContainerSpec>, readonly: boolean): void => {
    const spec = taskSpec({
      sessionId,
      suffix: name,
      image,
      seccomp,
      user: '0:0',
      argv: ['/bin/bash', '-c', script],
      mounts: [
        { kind: 'volume', volume: 'volumes', target: '/mnt', readonly },
        { kind: 'volume', volume: 'kept', target: '/media', readonly: true },
      ],
      stdin: 'none',
    });
    const place = { rootfs, arch: local.facts.arch, volumes, overlays: {}, uid, gid };
    // Its output is the archive. The agent's container proved the same layers.
    const config = jobBundle({ ...spec, ...more }, place, { isProved: false });
    const bundle = path.join(runDir, 'bundles', name);
    mkdirSync(bundle, { recursive: true, mode: 0o700 });
    writeFileSync(path.join(bundle, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  };
  make(SAVE_BUNDLE, SAVE_PROGRAM, { capabilities: ['DAC_READ_SEARCH'] }, true);
  // An overlay stores a removed file as a device without a number, which the profile does not let anybody make.
  const owner = { capabilities: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID'], seccomp: undefined };
  make(RESTORE_BUNDLE, RESTORE_PROGRAM, owner, false);
}
