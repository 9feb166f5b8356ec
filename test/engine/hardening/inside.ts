import { randomBytes } from 'node:crypto';
import type { Engine } from '../../../src/core/types/runtime.ts';
import { agentSpec } from '../../../src/engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../../src/engines/engine/hardening/seccomp.ts';
import { runToEnd } from '../../support/engine.ts';

/** Runs a shell script in a container that is the agent's in every layer, with a workspace in memory; returns its output. */
export async function inside(engine: Engine, image: string, script: string): Promise<{ said: string; status: number }> {
  const container = await engine.create(
    agentSpec({
      sessionId: `test-${randomBytes(4).toString('hex')}`,
      image,
      seccomp: await readSeccompProfile(),
      user: '1000:1000',
      argv: ['bash', '-euo', 'pipefail', '-c', script],
      forwards: [],
      env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', HOME: '/workspace', LANG: 'C.UTF-8' },
      workdir: '/workspace',
      mounts: [{ kind: 'tmpfs', target: '/workspace', sizeMb: 1024, mode: 0o755, noexec: false, uid: 1000, gid: 1000 }],
      network: 'none',
      limits: { memoryMb: 4096, cpus: 0, pids: 2048, tmpMb: 512 },
      tty: false,
      stdin: 'none',
    }),
  );
  return runToEnd(container);
}
