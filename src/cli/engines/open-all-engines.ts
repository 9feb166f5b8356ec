import { RunClaudeError } from '../../core/errors.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { isSameEngine } from '../../engines/engine/same-engine.ts';
import { goesToScheduler } from '../../session/plan/choose-engine.ts';
import { listSessions } from '../../session/record/session.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { CommandContext } from '../context/context.ts';
import { namedEngines } from './named-engines.ts';
import { openEngine } from './open-engine.ts';

/** How long each engine of the configuration may take to answer: the command waits for it. */
const ANSWER_MS = 10_000;
/** How long an engine may take to list its objects: one that answered at first may be cut off since. */
const LIST_MS = 30_000;

export interface AllEngines {
  /** The default engine; undefined when it does not answer. */
  readonly engine: Runtime | undefined;
  /** Those of the configuration that answer, without other names of one that is listed already. */
  readonly others: readonly Runtime[];
  close(): Promise<void>;
}

/** Connects the default engine and all of the configuration, with one line for each that does not answer. */
export async function openAllEngines(context: CommandContext): Promise<AllEngines> {
  const [engine, named] = await Promise.all([openDefault(context), openOthers(context)]);
  const opened = [...(engine === undefined ? [] : [engine]), ...named];
  const others: Runtime[] = [];
  for (const one of named) {
    const isKnown = [engine, ...others].some((other) => other !== undefined && isSameEngine(other.facts, one.facts));
    if (!isKnown) others.push(withListLimit(one, LIST_MS));
  }
  return { engine, others, close: async () => void (await Promise.all(opened.map((one) => one.close()))) };
}

/**
 * The engine, whose list() rejects when it takes longer.
 *
 * @throws {RunClaudeError} list(): ENGINE_SLOW
 */
export function withListLimit(engine: Runtime, limitMs: number): Runtime {
  const list: Runtime['list'] = async () => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const message = `its objects were not listed within ${limitMs / 1000} s`;
      timer = setTimeout(() => reject(new RunClaudeError('ENGINE_SLOW', message)), limitMs);
    });
    return Promise.race([engine.list(), late]).finally(() => clearTimeout(timer));
  };
  return { ...engine, list };
}

async function openDefault(context: CommandContext): Promise<Runtime | undefined> {
  try {
    return await openEngine('auto', context);
  } catch (error) {
    const text = `The container engine does not answer, so its objects are left for the next gc: ${(error as Error).message}`;
    context.tell({ kind: 'message', level: 'warning', text });
    return undefined;
  }
}

async function openOthers(context: CommandContext): Promise<readonly Runtime[]> {
  const named = await namedEngines(context.places.configDir);
  const others: readonly OtherEngine[] = [
    ...named.map(({ name, host }) => ({ on: name, left: () => leftLine(name, host) })),
    ...recorded(context),
  ];
  const opened = await Promise.all(
    others.map(async ({ on, left }) => {
      try {
        return await openEngine({ engine: 'auto', on }, context, ANSWER_MS);
      } catch (error) {
        if (!(error instanceof RunClaudeError)) throw error;
        context.tell({ kind: 'message', level: 'warning', text: left(error) });
        return undefined;
      }
    }),
  );
  return opened.filter((one) => one !== undefined);
}

interface OtherEngine {
  readonly on: string;
  /** The line about one that does not answer. */
  readonly left: (error: RunClaudeError) => string;
}

/** The clusters that sessions on record ran on: the configuration does not name them. */
function recorded({ places }: CommandContext): readonly OtherEngine[] {
  const { sessions } = listSessions(places.stateDir);
  const used = sessions.flatMap(({ plan: { policy } }) =>
    policy.on !== undefined && goesToScheduler(policy) ? [policy.on] : [],
  );
  return [...new Set(used)].map((on) => ({
    on,
    left: ({ message }) => cleanLine(`What sessions on ${on} left is not removed: ${message}`),
  }));
}

/** The line about an engine of the configuration that does not answer. */
export function leftLine(name: string, host: string): string {
  return cleanLine(`Engine ${name} at ${host} does not answer, so its objects are left for the next gc.`);
}
