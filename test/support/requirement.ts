import type { TestContext } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Why the test was skipped: scripts/closing-line.mjs prints it. */
    skipReason?: string;
  }
}

/**
 * Skips the rest of a test on a machine that cannot run it. Only for what nobody can install: a missing program fails.
 * @param reason what the machine lacks: `needs root, which alone can …`
 */
export function skipUnless(isMet: boolean, reason: string, { task, skip }: TestContext): void {
  if (isMet) return;
  task.meta.skipReason = reason;
  skip(reason);
}
