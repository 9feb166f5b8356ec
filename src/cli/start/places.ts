import path from 'node:path';
import { plannedGitMounts } from '../../bind/shield-git.ts';
import { instanceKey, instanceRoot } from '../../claude/instances/instance.ts';
import { mountsOfFolder } from '../../layer/places.ts';
import { plannedWorkspace } from '../../layer/strategies.ts';
import { planOfFolder } from '../../plan/plan-run.ts';
import { plannedHomeMount } from '../../session/start/home.ts';
import type { Mount } from '../../types/engine.ts';
import type { Plan } from '../../types/plan.ts';

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
