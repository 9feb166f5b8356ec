import { text } from 'node:stream/consumers';
import { parseUser } from '../../core/host/user.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { rehearsalSpec } from '../../engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../engines/engine/hardening/seccomp.ts';
import type { ScratchOver } from '../../workspace/layer/layer.ts';
import { openScratchLayer } from '../../workspace/layer/strategies.ts';
import { HOME, PROJECT } from '../facts/places.ts';
import { type Observation, readRecords } from '../facts/records.ts';
import type { Scene } from '../scenes/scene.ts';
import { observerWords } from '../scenes/table.ts';

/** Where a rehearsal runs. */
export interface Stage {
  readonly plan: Plan;
  /** The workspace of the session's record. */
  readonly workspace: unknown;
  readonly engine: Runtime;
  readonly tell: Tell;
  readonly signal: AbortSignal;
}

const HOME_MB = 512;

/** Commands never wait for an answer, and git has a name for its commits. */
const OWN_ENV: Readonly<Record<string, string>> = {
  CI: 'true',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_EDITOR: 'true',
  GIT_PAGER: 'cat',
  PAGER: 'cat',
  GIT_AUTHOR_NAME: 'Rehearsal',
  GIT_AUTHOR_EMAIL: 'rehearsal@localhost',
  GIT_COMMITTER_NAME: 'Rehearsal',
  GIT_COMMITTER_EMAIL: 'rehearsal@localhost',
};

/** What leads to the gateway and to the agent's provider, which are not here: names go to the observer's own answers. */
const NOT_PASSED = /proxy|^(?:NODE_OPTIONS|NODE_USE|ANTHROPIC|CLAUDE|OPENAI|GEMINI|GOOGLE|COPILOT|GITHUB|AWS|SSH)/i;

/** The variables of every command. */
export function environmentOf(plan: Plan): Readonly<Record<string, string>> {
  const passed = Object.entries(plan.env).filter(([name]) => !NOT_PASSED.test(name));
  return { ...Object.fromEntries(passed), ...OWN_ENV, HOME };
}

/**
 * Runs the scenes in a scratch layer and returns what was observed. Undefined where the session's strategy has no layer
 * that can be written.
 *
 * @throws {RunClaudeError} what the layer and the engine throw; the signal's reason
 */
export async function observeSide(
  stage: Stage,
  over: ScratchOver,
  scenes: readonly Scene[],
  budgetMs: number,
): Promise<Observation | undefined> {
  const { plan, engine, tell, signal } = stage;
  signal.throwIfAborted();
  const layer = await openScratchLayer({ plan, engine, tell }, stage.workspace, over);
  try {
    if (!layer.writable) return undefined;
    const { uid, gid } = parseUser(plan.user);
    const container = await engine.create(
      rehearsalSpec({
        sessionId: plan.sessionId,
        suffix: over === 'base' ? 'rehearsal-base' : 'rehearsal',
        image: plan.image,
        seccomp: await readSeccompProfile(),
        runtime: plan.policy.runtime,
        user: plan.user,
        umask: plan.umask,
        words: observerWords(scenes, budgetMs),
        forwards: [],
        env: environmentOf(plan),
        workdir: PROJECT,
        mounts: [
          ...layer.mounts,
          { kind: 'tmpfs', target: HOME, sizeMb: HOME_MB, mode: 0o700, noexec: false, uid, gid },
        ],
        limits: plan.policy,
      }),
    );
    const stop = (): void => void container.remove();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const printed = text(container.stdout);
      container.stderr.resume();
      await container.start();
      // The observer keeps its time limits; a container that outlives them was stopped from inside.
      const isInTime = await within(container.wait(), budgetMs + END_MS);
      if (!isInTime) await container.remove();
      signal.throwIfAborted();
      return readRecords(
        await printed,
        scenes.map(({ name }) => name),
      );
    } finally {
      signal.removeEventListener('abort', stop);
      await container.remove();
    }
  } finally {
    await layer.close();
  }
}

const END_MS = 30_000;

async function within(ended: Promise<number>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([ended.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
