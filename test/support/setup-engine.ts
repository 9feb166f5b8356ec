import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The engine suites need a reachable engine; its absence is a failure, never a skip. */
export function setup(): () => void {
  try {
    execFileSync('docker', ['version', '--format', '{{.Server.Version}}'], { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    throw new Error('these tests need a running engine: scripts/install-engine.sh starts one', { cause: error });
  }
  // The first scene leaves the result of its overlay trial here, as sessions of one user do for each other.
  const shared = mkdtempSync(path.join(tmpdir(), 'run-claude-tests-'));
  process.env['RUN_CLAUDE_TESTS_SHARED'] = shared;
  return () => {
    rmSync(shared, { recursive: true, force: true });
    // Only of this run: another one may be building its own.
    const ofThisRun = `--filter label=run-claude.test=${path.basename(shared)}`;
    // Images that the tests tagged, then the build stages behind them.
    const script = `docker images -q ${ofThisRun} | sort -u | xargs -r docker image rm -f; docker image prune -f ${ofThisRun}`;
    execFileSync('sh', ['-c', script], { stdio: 'ignore' });
  };
}
