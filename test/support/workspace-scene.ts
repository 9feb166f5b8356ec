import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Change } from '../../src/core/types/entry.ts';
import type { SessionEvent } from '../../src/core/types/event.ts';
import type { Plan } from '../../src/core/types/plan.ts';
import type { Policy } from '../../src/core/types/policy.ts';
import type { Engine, EngineContainer } from '../../src/core/types/runtime.ts';
import type { StrategyName } from '../../src/core/types/strategy.ts';
import { openWorkspace, reopenWorkspace, type WorkspaceWatch, watchWorkspace } from '../../src/workspace/view/open.ts';
import type { Workspace } from '../../src/workspace/view/workspace.ts';
import { smallContainer } from './engine.ts';

/** A project, our directories and a session on a real engine, for tests of the workspace. */
export interface WorkspaceScene {
  readonly dir: string;
  readonly project: string;
  readonly messages: SessionEvent[];
  plan(id: string, strategy: StrategyName, policy?: Partial<Policy>): Plan;
  open(id: string, strategy: StrategyName, policy?: Partial<Policy>): Promise<Workspace>;
  reopen(id: string, strategy: StrategyName, record: unknown): Promise<Workspace>;
  watch(id: string, strategy: StrategyName, record: unknown): Promise<WorkspaceWatch>;
  /** Runs a bash script as the agent in a container that mounts the workspace; gives what it printed. */
  inside(id: string, workspace: Workspace, script: string): Promise<string>;
  remove(): void;
}

/** In a directory whose own name has what mount options and bind strings trip over. */
export function workspaceScene(engine: Engine, image: string): WorkspaceScene {
  const dir = path.join(realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-ws-'))), 'a,b:c\\d e');
  const project = path.join(dir, 'project');
  mkdirSync(project, { recursive: true });
  const told: SessionEvent[] = [];
  const plan = (id: string, strategy: StrategyName, policy: Partial<Policy> = {}): Plan => {
    const some = { exclude: [], include: [], mask: [], includeIgnored: false, verify: false, ...policy };
    const known = {
      sessionId: id,
      project: { root: project },
      policy: some,
      image,
      strategy,
      user: '1000:1000',
      diskMb: 20_000,
      sessionDir: path.join(dir, 'state', id),
      baseDir: path.join(dir, 'cache', path.basename(path.dirname(dir))),
    };
    return known as unknown as Plan;
  };
  const options = (planned: Plan) => ({ plan: planned, engine, tell: (event: SessionEvent) => void told.push(event) });
  return {
    dir,
    project,
    messages: told,
    plan,
    open(id, strategy, policy) {
      const planned = plan(id, strategy, policy);
      mkdirSync(planned.sessionDir, { recursive: true });
      return openWorkspace(options(planned));
    },
    reopen: (id, strategy, record) => reopenWorkspace(options(plan(id, strategy)), record),
    watch: (id, strategy, record) => watchWorkspace(options(plan(id, strategy)), record),
    async inside(id, workspace, script) {
      const spec = smallContainer(`run-claude-${id}-agent`, image, ['sleep', '600']);
      const container: EngineContainer = await engine.create({ ...spec, sessionId: id, mounts: [...workspace.mounts] });
      try {
        await container.start();
        const argv = ['bash', '-c', 'cd /workspace && exec bash -s'];
        const done = await container.exec(argv, { stdin: Buffer.from(script), env: { LC_ALL: 'C.UTF-8' } });
        return done.stdout.toString('latin1') + done.stderr.toString('latin1');
      } finally {
        await container.remove();
      }
    },
    remove() {
      const volume = `run-claude-base-${path.basename(path.dirname(dir))}`;
      execFileSync('docker', ['volume', 'rm', '-f', volume], { stdio: 'ignore' });
      // Deeper than a path can be written, so not by rmSync.
      execFileSync('rm', ['-rf', '--', path.dirname(dir)]);
    },
  };
}

/** Paths of this machine that any container of a session mounts. */
export function boundPaths(id: string): string[] {
  const list = ['ps', '-aq', '--filter', `label=run-claude.session=${id}`];
  const ids = execFileSync('docker', list, { encoding: 'utf8' }).split('\n').filter(Boolean);
  const format = '{{range .Mounts}}{{if eq .Type "bind"}}{{.Source}}\n{{end}}{{end}}';
  const bound = execFileSync('docker', ['inspect', '-f', format, ...ids], { encoding: 'utf8' });
  return bound.split('\n').filter(Boolean);
}

/** 'kind path' of each change, sorted. */
export function summary(changes: readonly Change[]): string[] {
  return changes.map((change) => `${change.kind} ${change.path}`).sort();
}

/** The merged tree, taken out by tar in a container: nothing of the collector's is used. */
export function takeOut(image: string, workspace: Workspace, into: string): void {
  const mount = workspace.mounts[0];
  if (mount === undefined || mount.kind === 'tmpfs') throw new Error('nothing to take out');
  const source = mount.kind === 'volume' ? mount.volume : mount.source;
  const flag = `type=${mount.kind},"source=${source}",target=/workspace,readonly`;
  mkdirSync(into, { recursive: true });
  const out = path.join(path.dirname(into), 'merged.tar');
  // Status 1: a change time that an overlay tells late, of a file with several names.
  const script = 'tar -C /workspace --warning=no-file-changed -cf - . || [ $? = 1 ]';
  execFileSync('bash', [
    '-c',
    `docker run --rm --network none --mount "$0" "$1" sh -c '${script}' > "$2"`,
    flag,
    image,
    out,
  ]);
  execFileSync('tar', ['-C', into, '-xpf', out]);
  rmSync(out);
}
