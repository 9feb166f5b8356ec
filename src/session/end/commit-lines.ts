import { cleanLine } from '../../terminal/clean.ts';
import type { MadeCommits, SessionRecord } from '../../types/session.ts';

const MAX_REPOSITORIES_NAMED = 20;
const MAX_TITLE_CHARACTERS = 72;

/** The commits of a session by repository, a line each, and the command that imports them. Cleaned for the terminal. */
export function commitLines({ id, commits = [] }: Pick<SessionRecord, 'id' | 'commits'>): string[] {
  const more = commits.length - MAX_REPOSITORIES_NAMED;
  return [
    ...commits.slice(0, MAX_REPOSITORIES_NAMED).map(commitLine),
    ...(more > 0 ? [`Commits in ${more} more ${more === 1 ? 'repository' : 'repositories'}`] : []),
    `Commits were made inside: run-claude commits ${id} --import`,
  ];
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
