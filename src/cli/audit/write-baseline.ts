import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { accepting, BASELINE_FILE, baselineText, readBaseline } from '../../core/report/baseline.ts';
import type { Tell } from '../../core/types/event.ts';
import type { Finding } from '../../core/types/finding.ts';
import { openGitObjects } from '../../review/commits/git-objects.ts';
import { cleanLine } from '../../terminal/clean.ts';

/**
 * Adds the suspect findings of an audit to the baseline file in the work tree of a folder. It takes no part in the audit
 * that writes it: you commit it first.
 *
 * @throws {RunClaudeError} USAGE for a file there that is not a baseline, and without a work tree
 */
export async function writeBaseline(
  findings: readonly Finding[],
  { folder, env, tell }: { readonly folder: string; readonly env: NodeJS.ProcessEnv; readonly tell: Tell },
): Promise<void> {
  const file = path.join(await openGitObjects(folder, env).topLevel(), BASELINE_FILE);
  const before = readIfAny(file);
  const after = accepting(findings, before);
  const added = after.length - before.length;
  if (added > 0) {
    // A link there leads nowhere that this may write.
    rmSync(file, { force: true });
    writeFileSync(file, baselineText(after), { flag: 'wx' });
  }
  const what = added === 0 ? 'Nothing new to accept' : `Accepted ${added} more ${added === 1 ? 'finding' : 'findings'}`;
  const next = added === 0 ? '' : ' Commit it: it counts in audits of what comes after that commit.';
  tell({ kind: 'message', level: 'info', text: cleanLine(`${what} in ${file}.${next}`) });
}

function readIfAny(file: string): ReturnType<typeof readBaseline> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return readBaseline(text);
}
