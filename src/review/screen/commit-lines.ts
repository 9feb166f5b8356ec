import { shellWord } from '../../core/text/shell-word.ts';
import type { MadeCommits } from '../../core/types/session.ts';
import { cleanLine } from '../../terminal/clean.ts';

const MAX_REPOSITORIES_NAMED = 20;
const MAX_TITLE_CHARACTERS = 72;

/** The commits of a session, a line for each repository. Cleaned for the terminal. */
export function commitLines(commits: readonly MadeCommits[]): string[] {
  const more = commits.length - MAX_REPOSITORIES_NAMED;
  return [
    ...commits.slice(0, MAX_REPOSITORIES_NAMED).map(commitLine),
    ...(more > 0 ? [`Commits in ${more} more ${more === 1 ? 'repository' : 'repositories'}`] : []),
  ];
}

/**
 * The command that imports a session's commits; undefined where an import took or refused all of them. `commits`: by
 * repository, undefined where they were not listed. Cleaned.
 */
export function importCommand(id: string, commits: readonly MadeCommits[] | undefined): string | undefined {
  const command = `run-claude commits ${id} --import`;
  const open = commits?.filter(({ taken }) => taken === undefined);
  if (open === undefined || open.length === commits?.length) return command;
  if (open.length === 0) return undefined;
  const named = open.map(({ repository }) => ` --only ${shellWord(repository === '' ? '.' : repository)}`);
  return cleanLine(`${command}${named.join('')}`);
}

/** 'lib: 4 commits: Newest; Older; Oldest shown; 1 more' */
function commitLine({ repository, count, titles }: MadeCommits): string {
  const shown = titles.map((title) => {
    const clean = cleanLine(title);
    return clean.length > MAX_TITLE_CHARACTERS ? `${clean.slice(0, MAX_TITLE_CHARACTERS - 1)}…` : clean;
  });
  const rest = count > shown.length ? [`${count - shown.length} more`] : [];
  const where = repository === '' ? '' : `${cleanLine(repository)}: `;
  return `${where}${count} ${count === 1 ? 'commit' : 'commits'}: ${[...shown, ...rest].join('; ')}`;
}
