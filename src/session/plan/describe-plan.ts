import { agentOf } from '../../agents/agents.ts';
import { formatDurationMs, formatSizeMb } from '../../core/config/values/quantities.ts';
import { shellWord } from '../../core/text/shell-word.ts';
import { visible } from '../../core/text/visible.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Policy } from '../../core/types/policy.ts';
import { MASKED } from './mask-plan.ts';

/** The start screen, one line for each fact. `credential` names the source, never the value; undefined leaves it out. `entering`: what is copied or mounted. `secrets`: words on files that hold them. */
export function startScreen(
  plan: Plan,
  credential: string | undefined,
  entering?: string,
  secrets: readonly string[] = [],
): string[] {
  const { policy } = plan;
  const limits = [
    `${formatSizeMb(policy.memoryMb)} memory`,
    policy.cpus === 0 ? 'all cpus' : `${policy.cpus} cpus`,
    `${policy.pids} processes`,
    `${formatSizeMb(plan.diskMb)} disk`,
    ...(policy.timeoutMs === undefined ? [] : [`at most ${formatDurationMs(policy.timeoutMs)}`]),
    ...(policy.maxCostUsd === undefined ? [] : [`at most $${policy.maxCostUsd}`]),
    ...(policy.maxRequests === undefined
      ? []
      : [`at most ${policy.maxRequests} ${policy.maxRequests === 1 ? 'request' : 'requests'}`]),
  ];
  const names = Object.keys(policy.env);
  return [
    row('project', plan.project.root),
    row(
      'works on',
      plan.mode === 'bind'
        ? `the project itself${hasOwnGit(plan) ? ', with a separate .git inside' : ''}`
        : `a copy (${plan.strategy})`,
    ),
    ...(plan.mode === 'bind' || entering !== undefined ? [enteringRow(plan, entering)] : []),
    ...secrets.map(secretsRow),
    ...(plan.also ?? []).map(({ name, project, isReadonly }) =>
      row('also', `/also/${name}: a ${isReadonly ? 'read-only ' : ''}copy of ${project.root}`),
    ),
    ...(policy.services ?? []).map(({ name, port, image, packages }) => {
      const from = image === undefined ? '' : ` (image ${image})`;
      return row(
        'service',
        `${name} at 127.0.0.1:${port}${from}${packages.length === 0 ? '' : ` (${packages.join(', ')})`}`,
      );
    }),
    row('network', networkWords(policy)),
    ...(credential === undefined ? [] : [row('credential', credential)]),
    ...(names.length === 0 ? [] : [row('variables', names.join(', '))]),
    ...environmentRows(policy.environment),
    ...((policy.caches ?? []).length === 0 ? [] : [row('caches', (policy.caches ?? []).join(', '))]),
    ...(plan.engine.on === undefined ? [] : [row('runs on', `${plan.engine.on}: ${plan.engine.endpoint}`)]),
    row('limits', limits.join(', ')),
    ...plan.weakenings.map((line) => row('weaker', line)),
  ];
}

/** What the agent gets of the project. `entering` as for {@link startScreen}. */
export function enteringRow({ mode, policy }: Pick<Plan, 'mode' | 'policy'>, entering: string | undefined): string {
  if (mode !== 'bind') return row('copied', entering ?? 'the project');
  const files = `every file of the project${entering === undefined ? ', ignored ones too' : `: ${entering}`}`;
  return row(
    'mounted',
    policy.mask.length === 0 ? files : `${files}; empty ones in place of ${policy.mask.join(', ')}`,
  );
}

/** One line on files with secrets. */
export const secretsRow = (words: string): string => row('secrets', words);

function environmentRows(environment: Policy['environment']): string[] {
  if (environment === undefined) return [];
  const { packages, setup } = environment;
  return [
    ...(packages.length === 0 ? [] : [row('packages', packages.join(', '))]),
    ...(setup === undefined ? [] : [row('setup', setup.split('\n').join('; '))]),
  ];
}

function networkWords({
  network,
  networkPresets,
  allowHosts,
  allowRequests,
  brokers,
  mcpServers,
  mcpPrograms,
}: Policy): string {
  if (network !== 'gateway') return network;
  const registries = networkPresets.includes('default') ? ' and package registries' : '';
  const presets = networkPresets.filter((preset) => preset !== 'default');
  const more = [
    ...allowHosts,
    ...(allowRequests ?? []),
    ...(mcpServers ?? []),
    ...(mcpPrograms ?? []),
    ...brokers,
    ...presets,
  ].length;
  return `gateway: the provider${registries}${more === 0 ? ' only' : ', and what you allow'}`;
}

/** Bind mode gives the agent its own repository in place of the project's. */
function hasOwnGit({ project }: Plan): boolean {
  return project.git === 'directory' || project.git === 'file';
}

/** The whole plan, for `--dry-run`. Values of `--env` are masked. */
export function describePlan(
  plan: Plan,
  credential: string | undefined,
  entering?: string,
  secrets: readonly string[] = [],
): string[] {
  const { program } = plan;
  const words =
    program.kind === 'exec'
      ? program.argv
      : program.kind === 'kept'
        ? ['(none)']
        : [agentOf(program)?.name ?? program.kind, ...program.args];
  const masked = new Set(Object.keys(plan.policy.env));
  return [
    ...startScreen(plan, credential, entering, secrets),
    row('session', plan.sessionId),
    row('strategy', `${plan.strategy}: ${plan.strategyReason}`),
    row('start in', plan.project.startIn === '' ? '/workspace' : `/workspace/${plan.project.startIn}`),
    row('git', plan.project.git),
    row('engine', `${plan.engine.name}, ${plan.engine.endpoint}`),
    row('image', plan.image),
    row('user', plan.user),
    row('program', words.map((word) => shellWord(word)).join(' ')),
    row('terminal', plan.tty ? 'yes' : 'no'),
    row('record', plan.sessionDir),
    ...(plan.mode === 'copy' ? [row('base', plan.baseDir)] : []),
    ...Object.entries(plan.env).map(([name, value]) =>
      row('environment', `${name}=${masked.has(name) ? MASKED : value}`),
    ),
  ];
}

function row(name: string, text: string): string {
  // A name may have a line break.
  return visible(`${name.padEnd(12)}${text}`);
}
