import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { profileDir } from '../../claude/instances/profile.ts';
import { usageError } from '../../errors.ts';
import { parseAddressRange, policyRules } from '../../gateway/rules.ts';
import { localTimeZone, type ProcessView, probeHost } from '../../host/facts.ts';
import { planRun } from '../../plan/plan-run.ts';
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
  plan(sessionId: string, image: string): Plan;
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
    plan: (sessionId, image) =>
      planRun({ sessionId, policy, host, project, engine: engine.facts, image, program: line.program, person }),
  };
}

const SUBFOLDER = "this is a folder of a repository, taken without the repository's .git; --repo takes all of it";

/** `--tmpdir` as a real path. What is kept there must not lie where an agent works. */
function stagingFolder(named: string | undefined, root: string, cwd: string): string | undefined {
  if (named === undefined) return undefined;
  const folder = path.resolve(cwd, named);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw usageError(`--tmpdir ${named}: there is no such folder`);
  }
  const real = realpathSync(folder);
  if (contains(root, real)) {
    throw usageError(`--tmpdir ${named}: that lies in the project`, 'Name a folder outside it.');
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
