import { execFileSync } from 'node:child_process';

/** The engine suites need a reachable engine; its absence is a failure, never a skip. */
export function setup(): void {
  try {
    execFileSync('docker', ['version', '--format', '{{.Server.Version}}'], { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    throw new Error('these tests need a running engine: scripts/install-engine.sh starts one', { cause: error });
  }
}
