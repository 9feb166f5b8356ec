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
  // Where the first scene leaves what it found of overlay volumes, as one person's sessions do for each other.
  const shared = mkdtempSync(path.join(tmpdir(), 'run-claude-tests-'));
  process.env['RUN_CLAUDE_TESTS_SHARED'] = shared;
  return () => {
    rmSync(shared, { recursive: true, force: true });
    // Of this run: another one may be building its own.
    const ours = `--filter label=run-claude.test=${path.basename(shared)}`;
    // Images that the tests tagged, then the stages that stood behind them.
    const script = `docker images -q ${ours} | sort -u | xargs -r docker image rm -f; docker image prune -f ${ours}`;
    execFileSync('sh', ['-c', script], { stdio: 'ignore' });
  };
}
