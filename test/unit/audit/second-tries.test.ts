import { readdirSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { auditFiles, readLines } from './plant.ts';
import type { Files, Row } from './rows.ts';

type Verdict = 'silent' | 'suspect' | 'blocked';

/** An attempt, or a harmless change, whose author had not read the rules or any other list of this folder. */
interface Attempt {
  readonly name: string;
  /** The command that runs the payload, and the reason why it does. A harmless change has neither. */
  readonly command?: string;
  readonly why?: string;
  /** Whether the author ran the command and saw the payload run, or relied on the tool's documentation. */
  readonly checked?: 'run' | 'documentation';
  /** The verdict before any rule was changed for these attempts. It is never written again. */
  readonly first: Verdict;
  /** The verdict now. */
  readonly now: Verdict;
  readonly files: Files;
  readonly base?: Row['base'];
}

/** The largest share of the attempts that text alone may miss. */
const MAX_SILENT = 0.13;
/** The largest share of the harmless changes that may be reported. */
const MAX_LOUD = 0.02;

const folder = new URL('./second-tries/', import.meta.url);
const HARMLESS = 'harmless.jsonl';
const isWriting = process.env['WRITE_SECOND_TRIES'] === '1';

function verdictOf({ files: planted, base }: Attempt): Verdict {
  const severities = new Set(auditFiles(planted, base).map(({ severity }) => severity));
  return severities.has('blocked') ? 'blocked' : severities.has('suspect') ? 'suspect' : 'silent';
}

function judge(file: string): Attempt[] {
  const judged = readLines<Attempt>(new URL(file, folder)).map((one) => {
    const now = verdictOf(one);
    const { name, command, why, checked, first = now, files, base } = one;
    return { was: one.now, is: { name, command, why, checked, first, now, files, base } as Attempt };
  });
  if (isWriting) writeFileSync(new URL(file, folder), judged.map(({ is }) => `${JSON.stringify(is)}\n`).join(''));
  const changed = judged.filter(({ was, is }) => was !== is.now).map(({ is }) => `${is.name}: ${is.now}`);
  if (!isWriting) expect(changed).toEqual([]);
  return judged.map(({ is }) => is);
}

function countSilent(attempts: readonly Attempt[]): number {
  return attempts.filter(({ now }) => now === 'silent').length;
}

// After a change of the rules: WRITE_SECOND_TRIES=1 npx vitest run --project unit test/unit/audit/second-tries.test.ts
it('gives each attempt its recorded verdict', () => {
  const attempts = readdirSync(folder)
    .sort()
    .filter((file) => file !== HARMLESS)
    .flatMap(judge);
  expect(attempts.length).toBeGreaterThanOrEqual(300);
  expect(countSilent(attempts) / attempts.length).toBeLessThanOrEqual(MAX_SILENT);
});

it('gives each harmless change its recorded verdict', () => {
  const harmless = judge(HARMLESS);
  expect(harmless.length).toBeGreaterThanOrEqual(60);
  expect(1 - countSilent(harmless) / harmless.length).toBeLessThanOrEqual(MAX_LOUD);
});
