import type { ChildProcess } from 'node:child_process';
import { RunClaudeError } from '../../core/errors.ts';
import { spawn } from '../../core/host/programs/start-program.ts';
import type { AttachedProgram, JobRequest, JobState, Scheduler } from './scheduler.ts';

/** A controller that is busy answers late. */
const ANSWER_MS = 60_000;
/** The job gets a signal this long before its time is over, so that it can save what the agent wrote. In seconds. */
const WARNING_SECONDS = 60;

const WAITING: readonly string[] = ['PENDING', 'CONFIGURING', 'REQUEUED', 'REQUEUE_HOLD', 'REQUEUE_FED', 'SUSPENDED'];
/** While it completes, the job's script saves. */
const RUNNING: readonly string[] = ['RUNNING', 'COMPLETING', 'STAGE_OUT', 'SIGNALING', 'STOPPED', 'RESIZING'];

/**
 * Slurm, by its own commands: sbatch, scontrol, srun and scancel. `env`: of this process; variables of run-claude and of
 * Claude are not handed on, since Slurm copies the environment of a submission into the job.
 *
 * @throws {RunClaudeError} SCHEDULER_MISSING where the commands are not installed
 */
export async function openSlurm(env: NodeJS.ProcessEnv): Promise<Scheduler> {
  const own = environmentOf(env);
  const title = (await call(['sbatch', '--version'], own)).trim();
  return {
    title: title.replace(/^slurm(-wlm)? /, 'Slurm '),
    async submit(job) {
      const answer = await call(['sbatch', ...submission(job)], own).catch((error: RunClaudeError) => {
        throw error.code === 'SCHEDULER_FAILED'
          ? new RunClaudeError('JOB_REFUSED', `Slurm did not take the job: ${error.message}`, {
              hint: 'See what the partition allows with: scontrol show partition',
            })
          : error;
      });
      const id = /^(\d+)(;|$)/.exec(answer.trim())?.[1];
      if (id === undefined) throw new RunClaudeError('JOB_REFUSED', 'Slurm did not answer with the id of a job');
      return id;
    },
    async state(id) {
      return stateIn(
        await call(['scontrol', 'show', 'job', '--oneliner', id], own).catch((error: RunClaudeError) => {
          // The controller forgets a job some minutes after its end.
          if (/invalid job id/i.test(error.message)) return 'JobState=UNKNOWN Reason=forgotten';
          throw error;
        }),
      );
    },
    attach: (id, argv) => attach(['srun', ...stepOfJob(id), ...argv], own),
    async cancel(id) {
      await call(['scancel', id], own).catch((error: RunClaudeError) => {
        if (!/invalid job id|already complet/i.test(error.message)) throw error;
      });
    },
  };
}

/** Words of sbatch. The environment of the submission is not the job's. Pure. */
export function submission(job: JobRequest): readonly string[] {
  const minutes = job.timeMs === undefined ? undefined : Math.max(1, Math.ceil(job.timeMs / 60_000));
  return [
    '--parsable',
    `--job-name=${job.name}`,
    `--partition=${job.queue}`,
    '--nodes=1',
    '--ntasks=1',
    `--mem=${job.memoryMb}M`,
    ...(job.cpus === 0 ? [] : [`--cpus-per-task=${Math.ceil(job.cpus)}`]),
    ...(minutes === undefined ? [] : [`--time=${minutes}`]),
    // A job that ran in part has a session of its own: it is never run twice.
    '--no-requeue',
    `--signal=B:TERM@${WARNING_SECONDS}`,
    '--export=NONE',
    // The node does not have the project's directory.
    '--chdir=/',
    `--output=${job.log}`,
    '--open-mode=append',
    job.script,
    ...job.args,
  ];
}

/** `--unbuffered`: bytes are not kept until a line is whole. `--overlap`: besides the job's own program. */
function stepOfJob(id: string): readonly string[] {
  return [
    `--jobid=${id}`,
    '--overlap',
    '--nodes=1',
    '--ntasks=1',
    '--unbuffered',
    '--quiet',
    '--export=NONE',
    '--kill-on-bad-exit=0',
    '--input=0',
    '--mpi=none',
    '--chdir=/',
  ];
}

/** The state in one line of `scontrol show job --oneliner`. Pure. */
export function stateIn(line: string): JobState {
  const state = /\bJobState=(\S+)/.exec(line)?.[1] ?? 'UNKNOWN';
  const reason = /\bReason=(\S+)/.exec(line)?.[1] ?? '';
  if (WAITING.includes(state)) return { kind: 'waiting', why: reason === 'None' ? state : reason };
  if (RUNNING.includes(state)) {
    const machine = /\bBatchHost=(\S+)/.exec(line)?.[1] ?? /\bNodeList=(\S+)/.exec(line)?.[1] ?? '';
    return { kind: 'running', machine };
  }
  return { kind: 'ended', why: state };
}

/** What Slurm's commands need of the environment: nothing of the user's own, in which there may be secrets. */
function environmentOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = Object.keys(env).filter((name) => /^(PATH|HOME|USER|LOGNAME|LANG|LC_.*|TZ|SLURM_CONF)$/.test(name));
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}

/**
 * Runs a command of Slurm and returns its output.
 *
 * @throws {RunClaudeError} SCHEDULER_MISSING; SCHEDULER_FAILED with the last line of its error output
 */
function call(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const [program = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: ANSWER_MS,
      // A Ctrl-C would end it too, and a submission without its answer is a job without a name.
      detached: true,
    });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString('utf8')).slice(-2000);
    });
    child.on('error', () =>
      reject(
        new RunClaudeError('SCHEDULER_MISSING', `the command ${program} of Slurm cannot be run`, {
          hint: 'Run run-claude on a login node of the cluster, where sbatch and srun are installed.',
        }),
      ),
    );
    child.on('close', (status) => {
      if (status === 0) return resolve(output);
      const why = errors.trim().split('\n').at(-1) ?? '';
      reject(new RunClaudeError('SCHEDULER_FAILED', why === '' ? `${program} ended with status ${status}` : why));
    });
  });
}

function attach(argv: readonly string[], env: NodeJS.ProcessEnv): AttachedProgram {
  const [program = '', ...args] = argv;
  // A signal of the terminal is run-claude's to answer: srun would end the program at once.
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  child.stdin.on('error', () => undefined);
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    ended: endOf(child),
    close: () => void child.kill('SIGKILL'),
  };
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.on('error', () => resolve());
    child.on('close', () => resolve());
  });
}
