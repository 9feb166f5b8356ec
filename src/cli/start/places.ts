import path from 'node:path';
import { instanceKey, instanceRoot } from '../../agents/claude/instances/instance.ts';
import type { Mount } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import { planOfFolder } from '../../session/plan/plan-run.ts';
import { plannedHomeMount } from '../../session/stage/home.ts';
import { plannedGitMounts } from '../../workspace/bind/shield-git.ts';
import { mountsOfFolder } from '../../workspace/layer/places.ts';
import { plannedWorkspace } from '../../workspace/layer/strategies.ts';

/** Where the agent's files are: one line for each mount, and the directory of Claude's data of the project. */
export function placeLines(plan: Plan, dataDir: string): readonly string[] {
  const { root, gitCommonDir } = plan.project;
  const mounts = [...workspaceMounts(plan), plannedHomeMount(plan)].map(mountWords);
  const instance = path.join(dataDir, 'projects', instanceKey(instanceRoot(root, gitCommonDir)));
  const data = plan.policy.isolateClaudeData ? 'a volume of the engine' : instance;
  return [...mounts, `Data of the agent for this project (history, memory): ${data}`];
}

function mountWords(mount: Mount): string {
  if (mount.kind === 'tmpfs') return `memory at ${mount.target}`;
  const source = mount.kind === 'bind' ? mount.source : `volume ${mount.volume}`;
  return `${source} at ${mount.target}${mount.readonly ? ' (read-only)' : ''}`;
}

/** What of this machine is mounted for the agent's files. */
export function workspaceMounts(plan: Plan): Mount[] {
  const { strategy } = plan;
  if (strategy !== 'bind') {
    const folders = (plan.also ?? []).flatMap((folder) =>
      mountsOfFolder([plannedWorkspace(planOfFolder(plan, folder), strategy).mount], folder),
    );
    return [plannedWorkspace(plan, strategy).mount, ...folders];
  }
  const project: Mount = { kind: 'bind', source: plan.project.root, target: '/workspace', readonly: false };
  return [project, ...plannedGitMounts(plan)];
}
