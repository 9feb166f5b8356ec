import { writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { auditFiles, readLines } from './plant.ts';
import type { Files, Row } from './rows.ts';

type Verdict = 'silent' | 'suspect' | 'blocked';

/** An attempt to run a program by files of a project, or a harmless change of such files. */
export interface Attempt {
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

function verdictOf({ files: planted, base }: Attempt): Verdict {
  const severities = new Set(auditFiles(planted, base).map(({ severity }) => severity));
  return severities.has('blocked') ? 'blocked' : severities.has('suspect') ? 'suspect' : 'silent';
}

/** Judges the attempts of a file and expects the recorded verdicts; or, `isWriting`, records them. */
export function judgeTries(file: URL, isWriting: boolean): Attempt[] {
  const judged = readLines<Attempt>(file).map((one) => {
    const now = verdictOf(one);
    const { name, command, why, checked, first = now, files, base } = one;
    return { was: one.now, is: { name, command, why, checked, first, now, files, base } as Attempt };
  });
  if (isWriting) writeFileSync(file, judged.map(({ is }) => `${JSON.stringify(is)}\n`).join(''));
  const changed = judged.filter(({ was, is }) => was !== is.now).map(({ is }) => `${is.name}: ${is.now}`);
  if (!isWriting) expect(changed).toEqual([]);
  return judged.map(({ is }) => is);
}

/** The share of attempts that nothing reports. */
export const shareOfSilent = (attempts: readonly Attempt[]): number =>
  attempts.filter(({ now }) => now === 'silent').length / attempts.length;
