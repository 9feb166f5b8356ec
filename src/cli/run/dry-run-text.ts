import { shellWord } from '../../core/text/shell-word.ts';
import type { CredentialSource } from '../../core/types/agent/credential.ts';
import type { ContainerSpec } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { SecretFile } from '../../core/types/secret/secret-file.ts';
import { SECCOMP_FILE } from '../../engines/engine/hardening/seccomp.ts';
import { gatewayNames } from '../../network/gateway/agent-side.ts';
import { describePlan } from '../../session/plan/describe-plan.ts';
import { planOfFolder } from '../../session/plan/plan-run.ts';
import { secretLines, unsearchedLines } from '../../session/plan/secret-words.ts';
import { placeLines, plannedAgent, plannedServants } from '../../session/start/planned-containers.ts';
import { plannedWorkspace } from '../../workspace/layer/strategies.ts';
import { dockerCommand } from './docker-command.ts';

export interface DryRun {
  readonly source: CredentialSource | undefined;
  /** As in FoundLogin. */
  readonly words: string | undefined;
  /** What is copied, in words; undefined where nothing was scanned. */
  readonly entering: string | undefined;
  /** Files of the project that hold secrets. */
  readonly secrets: readonly SecretFile[];
  /** Ignored or new files that were not searched for secrets. */
  readonly unsearched: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** run-claude's directory for data of agents. */
  readonly dataDir: string;
  /** The label of everything that run-claude makes on the engine. */
  readonly owner: string;
  /** Images of the plan's services, by their names. */
  readonly serviceImages: ReadonlyMap<string, string>;
}

/** In place of the profile's text: the commands name its file. */
const SECCOMP = 'file';

/** The whole plan and the `docker` commands of its session. Starts and writes nothing. */
export function dryRunText(plan: Plan, dry: DryRun): string {
  const style = { seccompFile: SECCOMP_FILE, masked: new Set(Object.keys(plan.policy.env)), owner: dry.owner };
  const { network, volume } = gatewayNames(plan.sessionId);
  const { companions, services, gateway } = plannedServants(plan, dry.serviceImages, SECCOMP);
  const linesOf = (remark: string, spec: ContainerSpec): string[] => [remark, dockerCommand(spec, style), ''];
  const companionLines = companions.flatMap((spec) =>
    linesOf('# An MCP server that is a program: its secrets go to its standard input.', spec),
  );
  const serviceLines = services.flatMap((spec) =>
    linesOf('# A service: its volumes are removed with the session.', spec),
  );
  const gatewayLines = (spec: ContainerSpec): string[] => [
    '# The gateway: its rules and the credential go to its standard input.',
    `docker network create ${network}`,
    `docker volume create ${volume}`,
    dockerCommand(spec, style),
    '',
  ];
  return [
    ...describePlan(plan, dry.words, dry.entering, [...secretLines(dry.secrets), ...unsearchedLines(dry.unsearched)]),
    ...placeLines(plan, dry.dataDir).map((line, at) => `${(at === 0 ? 'mounts' : '').padEnd(12)}${line}`),
    '',
    '# As docker commands. run-claude asks the engine itself, compares what the engine recorded, and also hides',
    '# parts of /proc and /sys that docker run has no option for (MaskedPaths).',
    '',
    ...companionLines,
    ...serviceLines,
    ...(gateway === undefined ? [] : gatewayLines(gateway)),
    '# The agent.',
    ...[plan, ...(plan.also ?? []).map((folder) => planOfFolder(plan, folder))].flatMap(volumeLines),
    dockerCommand(plannedAgent(plan, dry, SECCOMP), style),
    '',
  ].join('\n');
}

function volumeLines(plan: Plan): string[] {
  if (plan.strategy === 'bind') return [];
  const { mount, volume } = plannedWorkspace(plan, plan.strategy);
  if (mount.kind !== 'volume' || volume === undefined) return [];
  const options = Object.entries(volume.options ?? {}).map(([name, value]) => `--opt ${shellWord(`${name}=${value}`)}`);
  return [`# ${volume.remark}`, `docker volume create ${options.join(' ')} ${mount.volume}`];
}
