import { existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { profileDir } from '../../claude/instances/profile.ts';
import { usageError } from '../../errors.ts';
import { parseAddressRange, policyRules } from '../../gateway/rules.ts';
import { localTimeZone, type ProcessView, probeHost } from '../../host/facts.ts';
import { type PlanInput, planRun } from '../../plan/plan-run.ts';
import { contains, refuseProject } from '../../plan/refuse-project.ts';
import type { ReportPlace } from '../../session/start/deps.ts';
import type { Engine } from '../../types/engine.ts';
import type { HostFacts, Plan, ProjectFacts } from '../../types/plan.ts';
import type { Policy } from '../../types/policy.ts';
import { connectOurs } from '../context/connect-ours.ts';
import type { CommandContext } from '../context/context.ts';
import { type ProjectPolicy, readPolicy } from '../context/read-policy.ts';
import type { RunLine } from '../grammar/parse-command-line.ts';

/** All that a plan needs but the session's id and the image; the engine is connected and to be closed. */
export interface Prepared {
  readonly engine: Engine;
  readonly host: HostFacts;
  readonly policy: Policy;
  readonly warnings: readonly string[];
  /** Where --report goes. */
  readonly report: ReportPlace | undefined;
  plan(sessionId: string, image: string, trial: PlanInput['trial']): Plan;
}

/**
 * Reads policy and facts, tells them to `known`, and connects the engine. Throws what each of them throws; nothing has
 * started then.
 */
export async function prepare(
  line: RunLine,
  context: Pick<CommandContext, 'cwd' | 'env' | 'places'>,
  process: ProcessView,
  known: (what: {
    readonly policy: Policy;
    readonly project: ProjectFacts;
    readonly host: HostFacts;
  }) => void = () => {},
): Promise<Prepared> {
  const host = probeHost(process, context.places);
  const merged = await readPolicy(line.project, line.flags, context);
  refuseProject(merged.project.root, host);
  refuseContradictions(merged, line);
  refuseUnusable(merged.policy, context.places.configDir);
  const report = await reportOf(merged.policy.report, context.cwd);
  const { project, warnings } = merged;
  const policy = { ...merged.policy, tmpdir: stagingFolder(merged.policy.tmpdir, project.root, context.cwd) };
  known({ policy, project, host });
  const engine = await connectOurs(policy.engine, context);
  const person = {
    term: context.env['TERM'],
    colorterm: context.env['COLORTERM'],
    timeZone: context.env['TZ'] ?? localTimeZone(),
  };
  return {
    engine,
    host,
    policy,
    warnings: merged.project.git === 'subfolder' ? [...warnings, SUBFOLDER] : warnings,
    report,
    plan: (sessionId, image, trial) =>
      planRun({ sessionId, policy, host, project, engine: engine.facts, image, program: line.program, trial, person }),
  };
}

const SUBFOLDER = "this is a folder of a repository, taken without the repository's .git; --repo takes all of it";

/**
 * `--tmpdir` as a real path; the session makes the directory where there is none. It must not be in the project: what is
 * kept there is not for the agent.
 */
export function stagingFolder(named: string | undefined, root: string, cwd: string): string | undefined {
  if (named === undefined) return undefined;
  const folder = path.resolve(cwd, named);
  let existing = folder;
  while (!existsSync(existing)) existing = path.dirname(existing);
  if (!statSync(existing).isDirectory()) throw usageError(`--tmpdir ${named}: ${existing} is not a directory`);
  const real = path.join(realpathSync(existing), path.relative(existing, folder));
  if (contains(root, real)) {
    throw usageError(`--tmpdir ${named} is in the project`, 'Name a directory outside it.');
  }
  return real;
}

/** Values that only their own stage can read: before anything has started. */
function refuseUnusable(policy: Policy, configDir: string): void {
  policyRules(policy);
  for (const range of policy.allowAddresses) parseAddressRange(range);
  if (policy.profile !== undefined) profileDir(configDir, policy.profile);
}

async function reportOf(file: string | undefined, cwd: string): Promise<ReportPlace | undefined> {
  // Most sessions write none, and need not load what writes it.
  return file === undefined ? undefined : (await import('../../session/end/write-report.ts')).reportPlace(file, cwd);
}

/** What two sources together ask for and cannot both have. */
function refuseContradictions({ policy, origins }: ProjectPolicy, line: RunLine): void {
  if (policy.autoApply && policy.mode === 'bind') throw usageError('--auto-apply works on a copy, not in bind mode');
  if (policy.mode === 'bind' && policy.strategy !== 'auto' && origins.get('strategy')?.startsWith('--') === true) {
    throw usageError('a strategy needs copy mode');
  }
  if (policy.shallow && policy.mode === 'bind') throw usageError('--shallow makes a copy, and this is bind mode');
  if (policy.image !== undefined && policy.toolchain) {
    throw usageError('--toolchain is a variant of our own image; bring compilers in --image');
  }
  if (line.action !== 'run' && policy.rebuild) throw usageError(`--${line.action} starts nothing, --rebuild builds`);
}
