import { readFileSync } from 'node:fs';
import path from 'node:path';
import { asBoolean, parseConfig } from '../../../core/git/config-parse.ts';
import { commonDirOf, gitDirOf } from './git-grafts.ts';

/** What git cannot do inside with a copy of this project's own repository, a line for each. */
export function gitLimits(project: string): string[] {
  const entries = entriesOf(project);
  const lines = entries
    .filter(({ section, subsection, name, value }) => {
      if (section !== 'remote' || subsection === undefined || name !== 'partialclonefilter' || !value) return false;
      const promisor = entries.findLast(({ key }) => key === `remote.${subsection}.promisor`);
      return promisor !== undefined && asBoolean(promisor.value) === true;
    })
    .map(({ subsection = '' }) => {
      const remote = /^[\w.-]+$/.test(subsection) ? subsection : 'REMOTE';
      return (
        `Partial clone: what git has not fetched from ${remote} is not in the copy, and log -p, diff and blame of such commits fail inside. ` +
        `To fetch it: git fetch --refetch --no-filter ${remote} && git config --unset remote.${remote}.partialclonefilter`
      );
    });
  const refs = entries.findLast(({ key }) => key === 'extensions.refstorage')?.value;
  if (refs === undefined || refs === 'files') return lines;
  return [
    ...lines,
    "The project's refs are stored as reftable, which git reads from version 2.45 on. Where the image's git is older, as in run-claude's own image, no git command works inside",
  ];
}

/** Of the configuration that all work trees share. None where it cannot be read: whoever copies it reports that. */
function entriesOf(project: string): ReturnType<typeof parseConfig>['entries'] {
  const own = gitDirOf(project);
  if (own === undefined) return [];
  try {
    return parseConfig(readFileSync(path.join(commonDirOf(own), 'config'), 'utf8')).entries;
  } catch {
    return [];
  }
}
