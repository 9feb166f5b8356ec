import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { COPY_MODE, RunClaudeError, usageError } from '../../core/errors.ts';
import { freeDiskMb, localTimeZone } from '../../core/host/facts.ts';
import { pathIdentity, truePath } from '../../core/host/files/true-path.ts';
import { requireOutside } from '../../core/host/programs/trusted-start.ts';
import { MIN_START_MB } from '../../core/text/disk-room.ts';
import type { HostFacts, Program, ProjectFacts } from '../../core/types/plan.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { ProjectRequest } from '../../core/types/setup/request.ts';
import { setupFileDigests } from '../../environment/setup/setup-files.ts';
import type { AskedFolder, PlanInput } from '../plan/plan-run.ts';
import { contains, refuseProject } from '../plan/refuse-project.ts';
import type { ReportPlace } from '../stage/deps.ts';
import { leftOutServers } from '../stage/servers/usable-servers.ts';
import { alsoFolders } from './also-folders.ts';

/** A session as a command line and the files of settings ask for it. */
export interface AskedRun {
  readonly policy: Policy;
  readonly project: ProjectFacts;
  /** What the project asks for, which is not in the policy. */
  readonly request: ProjectRequest | undefined;
  readonly warnings: readonly string[];
  readonly program: Program;
  /** As in the plan. */
  readonly task?: string | undefined;
}

/** The machine on which it is asked for. */
export interface AskingPlace {
  readonly host: HostFacts;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The same after everything was checked that needs no engine and no answer of the user. */
export interface CheckedRun extends AskedRun {
  /** Other folders. */
  readonly also: readonly AskedFolder[];
  /** The file of `--report`. */
  readonly report: ReportPlace | undefined;
}

/** Everything that a plan needs except what is looked for. */
export interface RunSetup extends Pick<CheckedRun, 'request' | 'warnings' | 'report'> {
  /** Connected; the caller closes it. */
  readonly engine: Runtime;
  readonly input: PlanInput;
}

/**
 * Refuses what no session may be on this machine. Starts nothing.
 *
 * @param needsRoom false where nothing would be written.
 * @throws {RunClaudeError} USAGE for a project and for folders that are refused, DISK_FULL
 */
export async function checkAsked(asked: AskedRun, place: AskingPlace, needsRoom: boolean): Promise<CheckedRun> {
  const { project } = asked;
  const { host, cwd, env } = place;
  refuseProject(project.root, host, pathIdentity);
  const report = await reportOf(asked.policy.report, cwd);
  const policy = { ...asked.policy, tmpdir: stagingFolder(asked.policy.tmpdir, project.root, cwd) };
  if (needsRoom) requireRoom(policy, host);
  const also = alsoFolders(policy.also ?? [], { project, host, cwd });
  if (policy.mode === 'bind' && project.root.includes('\n'))
    throw usageError(
      'the name of the project has a line break, and this is bind mode',
      `Rename it, or use ${COPY_MODE}.`,
    );
  requireOutside([project.root, ...also.map((folder) => folder.project.root)], policy.mode, { ...host, env });
  const subfolder = project.git === 'subfolder' ? [SUBFOLDER] : [];
  return { ...asked, policy, also, report, warnings: [...asked.warnings, ...subfolder] };
}

/** An engine that was chosen for the run, and a line for each one that was passed over. */
export interface ChosenEngine {
  readonly engine: Runtime;
  readonly lines: readonly string[];
}

/** The run on its engine, which is asked for nothing. */
export async function setUpRun(
  checked: CheckedRun,
  { engine, lines }: ChosenEngine,
  { host, env }: AskingPlace,
): Promise<RunSetup> {
  const { policy, project, also, request, warnings, report, program, task } = checked;
  const writable = also.filter(({ isReadonly }) => !isReadonly).map((folder) => folder.project.root);
  const place = { roots: [project.root, ...writable], isLocal: engine.facts.local };
  const input: PlanInput = {
    policy,
    host,
    project,
    engine: engine.facts,
    program,
    userEnvironment: {
      term: env['TERM'],
      colorterm: env['COLORTERM'],
      timeZone: env['TZ'] ?? localTimeZone(),
    },
    leftOutServers: await leftOutServers(policy, place, host.dataDir),
    task,
    also,
  };
  const asked = request && withContents(request, project.root);
  return { engine, input, request: asked, warnings: [...warnings, ...lines], report };
}

/** The request with the files that its setup and its seeds read, as they are now. */
function withContents(request: ProjectRequest, root: string): ProjectRequest {
  const names = [...request.environment.files, ...(request.services ?? []).flatMap(({ files }) => files)];
  return names.length === 0 ? request : { ...request, contents: setupFileDigests(root, names) };
}

const SUBFOLDER =
  "the project is a folder of a repository and is used without the repository's .git; --repo uses the whole repository";

/**
 * Refuses a start where `doctor` reports a full disk: what an agent does could not be collected afterwards.
 *
 * @throws {RunClaudeError} DISK_FULL.
 */
export function requireRoom(
  { mode }: Pick<Policy, 'mode'>,
  { stateDir, cacheDir }: Pick<HostFacts, 'stateDir' | 'cacheDir'>,
): void {
  // Bind mode makes no copy.
  for (const dir of mode === 'bind' ? [stateDir] : [stateDir, cacheDir]) {
    const free = freeDiskMb(dir);
    if (free >= MIN_START_MB) continue;
    throw new RunClaudeError('DISK_FULL', `${free} MB are free in ${dir}, and a session needs ${MIN_START_MB} MB`, {
      hint: 'Free some space: run-claude gc removes what no session needs, run-claude discard ID a session.',
    });
  }
}

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
  return file === undefined ? undefined : (await import('../end/report/write-report.ts')).reportPlace(file, cwd);
}
