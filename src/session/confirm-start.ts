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
 * Whether the start screen must ask: the first time for a project, or when something is weaker than what was agreed to
 * last time. A damaged record asks.
 */
export function mustAskStart(plan: Plan, stateDir: string): boolean {
  const last = readAgreed(agreedFile(plan, stateDir));
  if (last === undefined) return true;
  if (plan.mode === 'bind' && last.mode === 'copy') return true;
  return marks(plan).some((mark) => !last.weakenings.includes(mark));
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
  return plan.weakenings.map((line) => createHash('sha256').update(line).digest('hex').slice(0, 16));
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
