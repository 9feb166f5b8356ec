import path from 'node:path';
import { DEFAULT_ENGINE } from '../../core/config/default-engine.ts';
import { RunClaudeError } from '../../core/errors.ts';
import { withLock } from '../../core/store/lock.ts';
import type { EngineFacts, FoundObject } from '../../core/types/engine.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { isSameEngine } from '../../engines/engine/same-engine.ts';
import {
  chooseEngine,
  type EngineOffer,
  engineNames,
  goesToScheduler,
  noEngineLeft,
  type PassedOver,
  passedOverLine,
} from '../../session/plan/choose-engine.ts';
import { claimEngine, claimsDir, type EngineUse, engineUse } from '../../session/record/engine-claims.ts';
import { isSessionId } from '../../session/record/find/id.ts';
import type { ChosenEngine } from '../../session/start/set-up-run.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { engineNamed } from './named-engines.ts';
import { type EngineContext, openEngine } from './open-engine.ts';

/** How long each of several engines may take to answer, and then to be measured: the others wait for it. */
const CHOICE_ANSWER_MS = 20_000;
const MEASURE_MS = 30_000;
/** Choosing takes milliseconds, once the engines have answered. */
const CHOICE_WAIT_MS = 60_000;

/**
 * Connects the engine that a new session gets, whose close() also ends the claim of this process on it: the one that `on` names, of several the one with the fewest sessions that
 * has room, or the default one.
 *
 * @param isStarting a session will be started: only then a container measures the disk, and the engine is claimed.
 * @param without layers that the command line gives up; only a job may lack some.
 * @throws {RunClaudeError} ENGINES_UNUSABLE with all reasons where none of several can take the session; otherwise as
 * openEngine
 */
export async function openChosenEngine(
  policy: Policy,
  context: EngineContext,
  isStarting: boolean,
  without: readonly string[],
): Promise<ChosenEngine> {
  if (goesToScheduler(policy))
    return { engine: await openEngine({ ...policy, run: { policy, without } }, context), lines: [] };
  const names = engineNames(policy.on);
  const [only] = names;
  if (names.length < 2) {
    const engine = await openEngine({ engine: policy.engine, on: only }, context);
    const isClaimed = only !== undefined && isStarting;
    return { engine: isClaimed ? claimed(engine, only, policy.memoryMb, context) : engine, lines: [] };
  }
  await requireNames(names, context);
  const { measured, passedOver } = await measureAll(names, context, isStarting);
  const { stateDir } = context.places;
  try {
    return await withLock(
      path.join(claimsDir(stateDir), 'lock'),
      { what: 'choosing an engine', waitMs: CHOICE_WAIT_MS },
      async () => {
        const use = engineUse(stateDir, (record) => nameOf(record, measured));
        const offers = measured.map((one) => ({ ...one, ...loadOf(one, use(one.name)) }));
        const { chosen, passedOver: full } = chooseEngine(offers, policy);
        const all = inOrder([...passedOver, ...full], names);
        if (chosen === undefined) throw noEngineLeft(all);
        await closeAll(measured.filter(({ engine }) => engine !== chosen.engine));
        const engine = isStarting ? claimed(chosen.engine, chosen.name, policy.memoryMb, context) : chosen.engine;
        return { engine, lines: all.map(passedOverLine) };
      },
    );
  } catch (error) {
    await closeAll(measured);
    throw error;
  }
}

/**
 * The facts of the engines that answer, of those that new sessions with this policy may get.
 *
 * @throws {RunClaudeError} ENGINES_UNUSABLE where none of several answers; otherwise as openEngine
 */
export async function reachableEngines(
  { engine: choice, on }: Pick<Policy, 'engine' | 'on'>,
  context: EngineContext,
): Promise<readonly EngineFacts[]> {
  const names = engineNames(on);
  if (names.length < 2) {
    const engine = await openEngine({ engine: choice, on: names[0] }, context);
    await engine.close();
    return [engine.facts];
  }
  await requireNames(names, context);
  const opened = await Promise.all(names.map((name) => attempt(name, () => openForChoice(name, context))));
  const engines = opened.flatMap((one) => ('value' in one ? [one.value] : []));
  await Promise.all(engines.map((engine) => engine.close()));
  if (engines.length === 0) throw noEngineLeft(opened.flatMap((one) => ('why' in one ? [one] : [])));
  return engines.map(({ facts }) => facts);
}

/** A wrong name is an error of the command line, whatever the other engines answer. */
async function requireNames(names: readonly string[], { places }: EngineContext): Promise<void> {
  for (const name of names) if (name !== DEFAULT_ENGINE) await engineNamed(name, places.configDir);
}

/** An engine that answered in time. */
interface Measured extends Pick<EngineOffer, 'name' | 'freeDiskMb' | 'facts'> {
  readonly engine: Runtime;
  /** Ids of run-claude's sessions of this user that have containers there. */
  readonly running: readonly string[];
}

async function measureAll(
  names: readonly string[],
  context: EngineContext,
  withDisk: boolean,
): Promise<{ readonly measured: readonly Measured[]; readonly passedOver: readonly PassedOver[] }> {
  const all = await Promise.all(names.map((name) => attempt(name, () => measure(name, context, withDisk))));
  return {
    measured: all.flatMap((one) => ('value' in one ? [one.value] : [])),
    passedOver: all.flatMap((one) => ('why' in one ? [one] : [])),
  };
}

async function measure(name: string, context: EngineContext, withDisk: boolean): Promise<Measured> {
  const engine = await openForChoice(name, context);
  try {
    const measuring = async (): Promise<Measured> => {
      const objects = await engine.list();
      const free = withDisk ? await freeDisk(engine, objects) : undefined;
      return { name, engine, facts: engine.facts, running: sessionsOf(objects), freeDiskMb: free };
    };
    return await inTime(measuring());
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** Loaded by the few starts that choose. */
async function freeDisk(engine: Runtime, objects: readonly FoundObject[]): Promise<number | undefined> {
  const { freeDiskMb } = await import('../../engines/engine/free-disk.ts');
  return freeDiskMb(engine, objects);
}

const openForChoice = (name: string, context: EngineContext): Promise<Runtime> =>
  openEngine({ engine: 'auto', on: name }, context, CHOICE_ANSWER_MS);

async function inTime<T>(measuring: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(tooSlow()), MEASURE_MS);
  });
  return Promise.race([measuring, late]).finally(() => clearTimeout(timer));
}

const tooSlow = (): RunClaudeError =>
  new RunClaudeError('ENGINE_SLOW', `it is too slow: its objects were not listed within ${MEASURE_MS / 1000} s`);

async function attempt<T>(name: string, body: () => Promise<T>): Promise<{ readonly value: T } | PassedOver> {
  try {
    return { value: await body() };
  } catch (error) {
    if (!(error instanceof RunClaudeError)) throw error;
    return { name, why: shortReason(error) };
  }
}

/** The reason in one line: the error of an engine that does not answer lists its address below. */
function shortReason({ code, message }: RunClaudeError): string {
  const [first = '', ...more] = message.split('\n').map((line) => cleanLine(line.trim()));
  return code === 'ENGINE_UNREACHABLE' && more.length > 0 ? more.join('; ') : first;
}

function sessionsOf(objects: readonly FoundObject[]): readonly string[] {
  const ids = objects.filter(({ running }) => running).map(({ labels }) => labels['run-claude.session'] ?? '');
  return [...new Set(ids.filter(isSessionId))];
}

/** What records and claims say of an engine, with sessions of which only containers are left. */
function loadOf(
  { running }: Measured,
  { sessions, memoryMb, ids }: EngineUse,
): Pick<EngineOffer, 'sessions' | 'sessionsMemoryMb'> {
  return { sessions: sessions + running.filter((id) => !ids.includes(id)).length, sessionsMemoryMb: memoryMb };
}

/** The name among the measured engines of the engine of a session: it may have been started by another name. */
function nameOf({ plan }: SessionRecord, measured: readonly Measured[]): string | undefined {
  const same = measured.filter(({ engine }) => isSameEngine(plan.engine, engine.facts));
  return (same.find(({ name }) => name === (plan.engine.on ?? DEFAULT_ENGINE)) ?? same[0])?.name;
}

const inOrder = (passed: readonly PassedOver[], names: readonly string[]): readonly PassedOver[] =>
  [...passed].sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name));

const closeAll = async (all: readonly Measured[]): Promise<void> => {
  await Promise.all(all.map(({ engine }) => engine.close()));
};

/** The engine, with a claim of this process on it until it is closed. */
function claimed(engine: Runtime, name: string, memoryMb: number, { places }: EngineContext): Runtime {
  const release = claimEngine(places.stateDir, name, memoryMb);
  return {
    ...engine,
    close: async () => {
      release();
      await engine.close();
    },
  };
}
