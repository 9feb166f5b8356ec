import { isSameEngine } from '../../engine/same-engine.ts';
import { RunClaudeError } from '../../errors.ts';
import { listSessions } from '../../record/session.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { Engine } from '../../types/engine.ts';
import type { CommandContext } from './context.ts';
import { namedEngines } from './named-engines.ts';
import { isJob, openEngine } from './open-engine.ts';

/** How long each engine of the configuration may take to answer: the command waits for it. */
const ANSWER_MS = 10_000;

export interface AllEngines {
  /** The default engine; undefined when it does not answer. */
  readonly engine: Engine | undefined;
  /** Those of the configuration that answer, without other names of one that is listed already. */
  readonly others: readonly Engine[];
  close(): Promise<void>;
}

/** Connects the default engine and all of the configuration, with one line for each that does not answer. */
export async function openAllEngines(context: CommandContext): Promise<AllEngines> {
  const [engine, ...more] = await Promise.all([openDefault(context), openNamed(context), openJobs(context)]);
  const named = more.flat();
  const opened = [...(engine === undefined ? [] : [engine]), ...named];
  const others: Engine[] = [];
  for (const one of named) {
    const isKnown = [engine, ...others].some((other) => other !== undefined && isSameEngine(other.facts, one.facts));
    if (!isKnown) others.push(one);
  }
  return { engine, others, close: async () => void (await Promise.all(opened.map((one) => one.close()))) };
}

async function openDefault(context: CommandContext): Promise<Engine | undefined> {
  try {
    return await openEngine('auto', context);
  } catch (error) {
    const text = `The container engine does not answer, so its objects are left for the next gc: ${(error as Error).message}`;
    context.tell({ kind: 'message', level: 'warning', text });
    return undefined;
  }
}

async function openNamed(context: CommandContext): Promise<readonly Engine[]> {
  const named = await namedEngines(context.places.configDir);
  const opened = await Promise.all(
    named.map(async ({ name, host }) => {
      try {
        return await openEngine({ engine: 'auto', on: name }, context, ANSWER_MS);
      } catch (error) {
        if (!(error instanceof RunClaudeError)) throw error;
        context.tell({ kind: 'message', level: 'warning', text: leftLine(name, host) });
        return undefined;
      }
    }),
  );
  return opened.filter((one) => one !== undefined);
}

/** The engines of jobs that sessions of the record ran in. */
async function openJobs(context: CommandContext): Promise<readonly Engine[]> {
  const { sessions } = listSessions(context.places.stateDir);
  const jobs = sessions.flatMap(({ plan }) =>
    isJob(plan.policy) && plan.policy.on !== undefined ? [plan.policy.on] : [],
  );
  const opened = await Promise.all(
    [...new Set(jobs)].map(async (on) => {
      try {
        return await openEngine({ engine: 'auto', on }, context);
      } catch (error) {
        if (!(error instanceof RunClaudeError)) throw error;
        const text = cleanLine(`What sessions on ${on} left is not removed: ${error.message}`);
        context.tell({ kind: 'message', level: 'warning', text });
        return undefined;
      }
    }),
  );
  return opened.filter((one) => one !== undefined);
}

/** The line about an engine of the configuration that does not answer. */
export function leftLine(name: string, host: string): string {
  return cleanLine(`Engine ${name} at ${host} does not answer, so its objects are left for the next gc.`);
}
