import { RunClaudeError } from '../../core/errors.ts';
import type { LackedLayer, Runtime } from '../../core/types/runtime.ts';
import { agentSpec } from '../../engines/engine/hardening/hardened.ts';
import { PROBES, type ProbeRow, runProbes } from '../../engines/engine/hardening/probes.ts';
import { readSeccompProfile } from '../../engines/engine/hardening/seccomp.ts';
import { newSessionId } from '../record/find/id.ts';

export interface ProbedContainer {
  readonly image: string;
  readonly runtime: string | undefined;
  /** 'uid:gid'. */
  readonly user: string;
}

/** Small, so that attacks on memory and processes reach their limit quickly. */
const LIMITS = { memoryMb: 96, cpus: 0, pids: 128, tmpMb: 32 };
/** gVisor's own kernel counts among the container's memory and threads, and is ended where it finds too little. */
const LIMITS_WITH_KERNEL = { ...LIMITS, memoryMb: 256, pids: 256 };

/** Runs the image's probes, which attack a container like the agent's, without workspace, home and gateway. */
export async function probeLayers(engine: Runtime, probed: ProbedContainer): Promise<readonly ProbeRow[]> {
  const { image, runtime, user } = probed;
  const rows = await runProbes(
    engine,
    agentSpec({
      sessionId: newSessionId(Date.now()),
      image,
      runtime,
      user,
      seccomp: await readSeccompProfile(),
      argv: [PROBES],
      forwards: [],
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8' },
      workdir: '/tmp',
      mounts: [],
      network: 'none',
      limits: runtime === undefined ? LIMITS : LIMITS_WITH_KERNEL,
      tty: false,
      stdin: 'none',
    }),
  );
  const known = engine.facts.hasOneUser === true ? rows.map(ofOneUser) : rows;
  return known.map((row) => orAccepted(row, engine.lacks ?? []));
}

/** What gets through because of a layer that the user gives up. */
function orAccepted(row: ProbeRow, lacked: readonly LackedLayer[]): ProbeRow {
  const { name } = lacked.find(({ probes }) => probes.some((start) => row.name.startsWith(start))) ?? {};
  return row.result !== 'open' || name === undefined
    ? row
    : { ...row, result: 'accepted', why: `without-layer ${name}` };
}

/** They try to become user 12345, or to give a file to that user. */
const OTHER_USER: readonly string[] = ['setuid-0', 'setgid-0', 'chown-away'];

/** Where no other user exists, the kernel answers that the number is not valid: it does not show who may change users. */
function ofOneUser(row: ProbeRow): ProbeRow {
  const isAboutOthers = row.result === 'open' && OTHER_USER.includes(row.name);
  return isAboutOthers ? { ...row, result: 'untestable', why: 'no other user exists inside' } : row;
}

/** @throws {RunClaudeError} IMAGE_REFUSED, which names the attacks, when at least one succeeded. */
export async function refuseOpenImage(engine: Runtime, probed: ProbedContainer): Promise<void> {
  const open = (await probeLayers(engine, probed)).filter((row) => row.result === 'open');
  if (open.length === 0) return;
  const named = open.slice(0, 8).map((row) => `${row.name} (${row.layer})`);
  const more = open.length > named.length ? ` and ${open.length - named.length} more` : '';
  throw new RunClaudeError('IMAGE_REFUSED', `attacks got through in ${probed.image}: ${named.join(', ')}${more}`);
}
