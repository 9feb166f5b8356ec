import { createHash } from 'node:crypto';
import path from 'node:path';
import { pathKey } from '../plan/plan-run.ts';
import { readJson, writeJsonAtomic } from '../store/record.ts';
import type { Plan } from '../types/plan.ts';

/** What a person has agreed to for a project. */
interface Agreed {
  readonly mode: Plan['mode'];
  readonly weakenings: readonly string[];
}

/**
 * Why the start screen must ask, as one sentence: the first time for a project, or when something is weaker than what
 * was agreed to last time. A damaged record asks. Undefined where no question is needed.
 */
export function whyAskStart(plan: Plan, stateDir: string): string | undefined {
  const last = readAgreed(agreedFile(plan, stateDir));
  if (last === undefined) return 'This is the first session of this project.';
  if (plan.mode === 'bind' && last.mode === 'copy')
    return 'This session changes the project itself; the sessions before worked on a copy.';
  const weaker = plan.weakenings.filter((line) => !last.weakenings.includes(markOf(line)));
  return weaker.length === 0 ? undefined : `This session is weaker than the last one: ${weaker.join('; ')}.`;
}

/** Remembers that this start was agreed to. Names and places of weakenings are kept as digests only. */
export function rememberStart(plan: Plan, stateDir: string): void {
  const agreed: Agreed = { mode: plan.mode, weakenings: marks(plan) };
  writeJsonAtomic(agreedFile(plan, stateDir), agreed);
}

function agreedFile(plan: Plan, stateDir: string): string {
  return path.join(stateDir, 'agreed', `${pathKey(plan.project.root)}.json`);
}

function marks(plan: Plan): string[] {
  return plan.weakenings.map(markOf);
}

function markOf(line: string): string {
  return createHash('sha256').update(line).digest('hex').slice(0, 16);
}

function readAgreed(file: string): Agreed | undefined {
  let value: unknown;
  try {
    value = readJson(file);
  } catch {
    // Damaged: asking once more is always right.
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { mode, weakenings } = value as Partial<Agreed>;
  return (mode === 'copy' || mode === 'bind') && Array.isArray(weakenings) ? { mode, weakenings } : undefined;
}
