import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { homeAgent } from '../../agents/agents.ts';
import { COPY_MODE, usageError } from '../../core/errors.ts';
import { localTimeZone, type ProcessView, probeHost } from '../../core/host/facts.ts';
import { requireOutside } from '../../core/host/programs/trusted-start.ts';
import { pathIdentity, truePath } from '../../core/host/true-path.ts';
import type { Engine } from '../../core/types/engine.ts';
import type { HostFacts, Plan, Program, ProjectFacts } from '../../core/types/plan.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { ProjectRequest } from '../../core/types/request.ts';
import { refuseAgentLayer } from '../../engines/cluster/losses.ts';
import { refuseAttended } from '../../engines/jobs/losses.ts';
import { setupFileDigests } from '../../environment/setup/setup-files.ts';
import { parsePorts } from '../../network/preview/port-words.ts';
import { type PlanInput, planRun } from '../../session/plan/plan-run.ts';
import { contains, refuseProject } from '../../session/plan/refuse-project.ts';
import { withRequest } from '../../session/plan/requests.ts';
import { findSpareId, servantIdsWithAccount } from '../../session/record/spare-id.ts';
import type { ReportPlace } from '../../session/stage/deps.ts';
import type { CommandContext } from '../context/context.ts';
import { refuseTakenPorts } from '../context/taken-ports.ts';
import { leftOutServers } from '../doctor/accessory-checks.ts';
import { goesToScheduler } from '../engines/open-engine.ts';
import type { RunLine } from '../grammar/parse-command-line.ts';
import { type ProjectPolicy, readPolicy } from '../policy/read-policy.ts';
import { type BesideFolder, besideFolders } from './beside-folders.ts';
import { openChosenEngine } from './open-chosen-engine.ts';
import { refuseContradictions, withoutUnused } from './refuse-contradictions.ts';
import { requirePrompt } from './require-prompt.ts';
import { requireRoom } from './require-room.ts';

/** Everything that a plan needs except the session's id and image. */
export interface RunSetup {
  /** Connected; the caller closes it. */
  readonly engine: Engine;
  readonly host: HostFacts;
  readonly policy: Policy;
  readonly program: Program;
  /** Real path of the project. */
  readonly root: string;
  /** What the project asks for, which is not in the policy. */
  readonly request: ProjectRequest | undefined;
  readonly warnings: readonly string[];
  /** The file of `--report`. */
  readonly report: ReportPlace | undefined;
  /** Folders besides the project. */
  readonly also: readonly BesideFolder[];
  /** `newId` gives the ids of the sessions of these folders. */
  plan(sessionId: string, image: PlanInput['image'], newId: () => string): Plan;
  /** The same with what the project asks for in its policy. Call it only once the user agreed. */
  accept(): RunSetup;
}

/**
 * Reads the policy and the facts of project and host, hands them to `onFacts`, and connects the engine. Starts nothing.
 *
 * @throws {RunClaudeError} USAGE for a project that is refused and for options that contradict each other; otherwise as
 * readPolicy and openChosenEngine
 */
export async function setUpRun(
  line: RunLine,
  context: Pick<CommandContext, 'cwd' | 'env' | 'places'> & Partial<CommandContext>,
  process: ProcessView,
  {
    merged: read,
    onFacts = () => {},
  }: {
    /** The policy, where it was read already. */
    readonly merged?: ProjectPolicy;
    readonly onFacts?: (facts: {
      readonly policy: Policy;
      readonly project: ProjectFacts;
      readonly host: HostFacts;
    }) => void;
  } = {},
): Promise<RunSetup> {
  const host = probeHost(process, context.places);
  const isAttended = host.stdinTty && host.stderrTty;
  const merged = read ?? (await readPolicy(line.project, line.flags, context, { isAttended }));
  refuseProject(merged.project.root, host, pathIdentity);
  refuseContradictions(merged, line);
  requirePrompt(line.program, process);
  const used = withoutUnused(merged);
  const report = await reportOf(merged.policy.report, context.cwd);
  const { project, warnings } = merged;
  const policy = { ...used.policy, tmpdir: stagingFolder(merged.policy.tmpdir, project.root, context.cwd) };
  if (line.action !== 'dry-run') requireRoom(policy, context.places);
  const also = besideFolders(policy.also ?? [], { project, host, cwd: context.cwd });
  if (policy.mode === 'bind' && project.root.includes('\n'))
    throw usageError(
      'the name of the project has a line break, and this is bind mode',
      `Rename it, or use ${COPY_MODE}.`,
    );
  requireOutside([project.root, ...also.map((folder) => folder.project.root)], policy.mode, {
    ...host,
    env: context.env,
  });
  onFacts({ policy, project, host });
  const { engine, lines } = await openChosenEngine(policy, context, isStart(line), line.without ?? []);
  const writable = also.filter(({ isReadonly }) => !isReadonly).map((folder) => folder.project.root);
  const place = { roots: [project.root, ...writable], isLocal: engine.facts.local };
  const leftOut = await leftOutServers(policy, place, host.dataDir);
  const userEnvironment = {
    term: context.env['TERM'],
    colorterm: context.env['COLORTERM'],
    timeZone: context.env['TZ'] ?? localTimeZone(),
  };
  const withPolicy = (chosen: Policy, request: ProjectRequest | undefined): RunSetup => ({
    engine,
    host,
    policy: chosen,
    program: line.program,
    root: project.root,
    request,
    warnings: [...warnings, ...used.warnings, ...(merged.project.git === 'subfolder' ? [SUBFOLDER] : []), ...lines],
    report,
    also,
    plan: (sessionId, image, newId) => {
      const plan = planRun({
        sessionId,
        policy: chosen,
        host,
        spareId: findSpareId(host.stateDir, host.uid),
        servantIdsWithAccount: servantIdsWithAccount(),
        project,
        engine: engine.facts,
        image,
        program: line.program,
        userEnvironment,
        leftOutServers: leftOut,
        task: line.task,
        also: also.map((folder) => ({ ...folder, sessionId: newId() })),
      });
      if (goesToScheduler(plan.policy)) refuseAttended(plan);
      refuseAgentLayer(plan.policy, homeAgent(plan.program));
      return plan;
    },
    accept: () => {
      const accepted = request === undefined ? chosen : withRequest(chosen, request);
      refuseTakenPorts(accepted);
      parsePorts(accepted.ports ?? []);
      return withPolicy(accepted, undefined);
    },
  });
  return withPolicy(policy, merged.request && withContents(merged.request, project.root));
}

/** The request with the files that its setup and its seeds read, as they are now. */
function withContents(request: ProjectRequest, root: string): ProjectRequest {
  const names = [...request.environment.files, ...(request.services ?? []).flatMap(({ files }) => files)];
  return names.length === 0 ? request : { ...request, contents: setupFileDigests(root, names) };
}

const isStart = ({ action }: RunLine): boolean => action !== 'dry-run' && action !== 'check';

const SUBFOLDER =
  "the project is a folder of a repository and is used without the repository's .git; --repo uses the whole repository";

/**
 * The real path of `--tmpdir`; the session makes the directory where there is none. It must be outside the project: what
 * is kept there must be out of an agent's reach.
 */
export function stagingFolder(named: string | undefined, root: string, cwd: string): string | undefined {
  if (named === undefined) return undefined;
  const folder = path.resolve(cwd, named);
  let existing = folder;
  while (!existsSync(existing)) existing = path.dirname(existing);
  if (!statSync(existing).isDirectory())
    throw usageError(`--tmpdir ${named}: ${existing} is not a directory`, 'Name a directory.');
  const real = path.join(truePath(existing), path.relative(existing, folder));
  if (contains(root, real, pathIdentity)) {
    throw usageError(`--tmpdir ${named} is inside the project`, 'Name a directory outside the project.');
  }
  return real;
}

async function reportOf(file: string | undefined, cwd: string): Promise<ReportPlace | undefined> {
  // Most sessions write no report: they do not load the code for it.
  return file === undefined ? undefined : (await import('../../session/end/write-report.ts')).reportPlace(file, cwd);
}
