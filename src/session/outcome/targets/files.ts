import type { SessionRecord } from '../../../core/types/session.ts';
import { applyChanges } from '../../../review/apply/apply-changes.ts';
import { isOnBranch } from '../../../review/choices/file-progress.ts';
import { gitWords, joinAdvice, mergeCommand, unmergedImports } from '../../../review/commits/taken-twice.ts';
import { cleanLine } from '../../../terminal/clean.ts';
import { repositoriesWithCommits } from '../../end/note-commits.ts';
import type { UserDeps } from '../../stage/deps.ts';
import type { Target } from './target.ts';

/**
 * The project's files. Commits of the session that were imported before bring the same files: lines before and after an
 * apply say how to take either. `cwd`: real path of the folder that the user is in, for commands to paste.
 */
export function openFiles(record: SessionRecord, { tell }: UserDeps, cwd = record.project): Target {
  const { id, plan } = record;
  const { root, inode } = plan.project;
  const git = gitWords(record.project, cwd);
  const imported = (): ReturnType<typeof unmergedImports> => unmergedImports(repositoriesWithCommits(record), id);
  return {
    async apply(request) {
      const outcome = await applyChanges({
        ...request,
        project: root,
        ...(inode !== undefined && { projectIdentity: `:${inode}` }),
        sessionDir: plan.sessionDir,
      });
      return {
        outcome,
        finish() {
          const commits = outcome.changes.some(({ verdict }) => verdict === 'applied') ? imported() : [];
          if (commits.length === 0) return;
          for (const text of joinAdvice({ sessionId: id, commits, git, canUndo: true }))
            tell({ kind: 'message', level: 'info', text: cleanLine(text) });
        },
      };
    },
    // A conflict with what an earlier apply wrote is an edit by the user.
    has: ({ verdict }, before) => verdict === 'same' || (verdict === 'conflict' && !isOnBranch(before)),
    words: {
      before: () =>
        imported().map((one) =>
          cleanLine(
            `The commits of this session were imported as ${one.name} and bring its files too. To take them instead: ${mergeCommand(one, git)}`,
          ),
        ),
      place: 'in the project',
      kept: (count) =>
        count === 1 ? 'Your version of this file was kept.' : `Your versions of these ${count} files were kept.`,
      command: () => `run-claude apply ${id}`,
    },
  };
}
