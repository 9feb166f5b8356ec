import type { ConflictRule } from '../../core/types/change/conflict.ts';
import type { Question } from '../../terminal/ask.ts';
import { amount } from '../../terminal/progress.ts';

// Every question of the review, so that they can be read together. Names are cleaned.

type ApplyAnswer = 'y' | 'n' | 'd' | 's' | 'l' | 'r' | 'discard';

/** `project`: its path as it is shown. `canRehearse`: the changes can be tried. */
export function applyQuestion(project: string, canRehearse: boolean): Question<ApplyAnswer> {
  const rehearse = canRehearse ? { r: 'rehearse: run usual commands without and with the changes, and compare' } : {};
  return {
    text: `Apply changes to ${project}?`,
    about: [
      'The lines above are what the session changed in its copy. Nothing of it is in your project yet.',
      'A WARNING is a change to look at: BLOCKED ones are never applied, the others need their own y.',
    ],
    answers: {
      y: 'apply what is clean, then ask for each suspect file',
      n: 'keep everything for later (also Ctrl-C)',
      d: 'show the differences',
      s: 'select files and parts of files',
      l: 'list the changes; l FOLDER lists those below a folder',
      ...rehearse,
      discard: 'delete the changes (type the whole word)',
    } as Readonly<Record<ApplyAnswer, string>>,
    onEnter: 'n',
    takes: { l: /^.+$/u },
  };
}

/** A mass deletion is confirmed by a word, so that a habitual y does not apply it. */
export function massDeletionQuestion({
  deleted,
  of,
}: {
  readonly deleted: number;
  readonly of: number;
}): Question<'delete' | 'n'> {
  return {
    text: `This deletes ${deleted} of ${of} entries of the project. Type 'delete' to continue`,
    about: ['The session deletes more than half of the project. A y alone does not apply that.'],
    answers: { delete: 'apply the clean changes, with these deletions', n: 'apply nothing, keep everything for later' },
    onEnter: 'n',
  };
}

export interface SuspectChange {
  readonly name: string;
  readonly renamedFrom?: string | undefined;
  /** Position among all that are asked for, from 1. */
  readonly at?: number;
  readonly of?: number;
}

export function suspectQuestion({ name, renamedFrom, at = 1, of = 1 }: SuspectChange): Question<'y' | 'n'> {
  const from = renamedFrom === undefined ? '' : ` (renamed from ${renamedFrom})`;
  const count = of > 1 ? ` (${at}/${of})` : '';
  return {
    text: `Apply suspect ${name}${from}?${count}`,
    about: ['The lines above are the reasons why this change is suspect, and what it changes.'],
    answers: { y: 'apply this change', n: 'leave it; it stays pending in the session' },
    onEnter: 'n',
  };
}

export interface HeldRemovalWords {
  readonly kind: 'delete' | 'replace';
  readonly names: string;
  /** The file that has the removed content. */
  readonly contentIn: string | undefined;
}

export function removalQuestion({ kind, names, contentIn }: HeldRemovalWords): Question<'y' | 'n'> {
  const where = contentIn === undefined ? 'a withheld file' : `${contentIn}, which is withheld`;
  const verb = kind === 'delete' ? 'Delete' : 'Replace';
  return {
    text: `${verb} ${names}? What it held is only in ${where}.`,
    about: ['Your ignore rules match the new name, so the moved content stays in the session.'],
    answers: {
      y: `${kind} your file; its content is then only in the session`,
      n: 'keep your file; the change stays pending in the session',
    },
    onEnter: 'n',
  };
}

/** `files`: '39 files (vim, /tmp)'. */
export function unignoredQuestion(files: string): Question<'y' | 'n' | 'd' | 'l'> {
  return {
    text: `Apply ${files} that your ignore rules match and the session un-ignores?`,
    about: [
      "Your project's ignore rules match these files. The session changed the rules, so that they match no more.",
    ],
    answers: { y: 'apply them', n: 'leave them; they stay in the session', d: 'show them', l: 'list them' },
    onEnter: 'n',
  };
}

export function mergeQuestion(name: string): Question<'y' | 'n'> {
  return {
    text: `${name} was changed on the host too. Apply the merge above?`,
    about: ["The lines above are what the session's changes would change in your file as it is now."],
    answers: { y: 'write the merge into your file', n: 'keep your file as it is; the change stays pending' },
    onEnter: 'n',
  };
}

const WAYS = {
  k: { rule: 'keep', name: 'Keep mine', does: 'keep your file; the change stays pending' },
  t: { rule: 'theirs', name: 'take theirs', does: "replace your file by the session's version" },
  m: { rule: 'markers', name: 'write markers', does: 'write both versions between conflict markers' },
  f: {
    rule: 'file',
    name: 'write a file next to it',
    does: "keep your file, and write the session's version to NAME.session",
  },
} as const satisfies Readonly<Record<string, { rule: ConflictRule; name: string; does: string }>>;
type Way = keyof typeof WAYS;
const ALL_FOLLOWING = /^all$/iu;

/** The rule that an answer of {@link conflictQuestion} stands for. */
export const conflictRule = (key: Way): ConflictRule => WAYS[key].rule;

/** `rules`: what can be chosen; `keep` is always among them. `hasVersions`: both can be shown. */
export function conflictQuestion(rules: readonly ConflictRule[], hasVersions: boolean): Question<Way | 'd'> {
  const ways = (Object.keys(WAYS) as Way[]).filter((key) => rules.includes(WAYS[key].rule));
  const names = ways.map((key) => WAYS[key].name);
  const answers = Object.fromEntries(ways.map((key) => [key, WAYS[key].does]));
  const show = hasVersions ? { d: "show what the session's version would change in your file" } : {};
  return {
    text: `${names.slice(0, -1).join(', ')} or ${names.at(-1)}?`,
    about: [
      'Your file and the session changed the same place since the session started.',
      `With 'all' behind it, as in ${ways.at(-1)} all, an answer counts for all conflicts that follow.`,
    ],
    // The keys of ways that cannot be chosen are left out.
    answers: { ...answers, ...show } as Readonly<Record<Way | 'd', string>>,
    onEnter: 'k',
    takes: { k: ALL_FOLLOWING, t: ALL_FOLLOWING, m: ALL_FOLLOWING, f: ALL_FOLLOWING },
  };
}

/** `what`: 'Take src/x.ts', with its position, from 1. */
export function fileQuestion(
  what: string,
  at: number,
  of: number,
): Question<'y' | 'n' | 'h' | 'v' | 't' | 'a' | 'g' | 'q'> {
  return {
    text: `(${at}/${of}) ${what}?`,
    about: ['The lines above are what the session changed here. Nothing is written before the last question.'],
    answers: {
      y: 'take this change',
      n: 'leave it; it stays pending in the session',
      h: 'choose parts of it',
      v: 'show it again',
      t: 'show it in $DIFFTOOL',
      a: 'take this and all the clean ones after it',
      g: 'take clean files by a pattern, as in g src/**',
      q: 'leave this and all after it, deletions too',
    },
    onEnter: 'n',
    takes: { g: /^.+$/u },
  };
}

/** `canSplit`: the part has unchanged lines between its changes. */
export function partQuestion(
  name: string,
  at: number,
  of: number,
  canSplit: boolean,
): Question<'y' | 'n' | 's' | 'e' | 'a' | 'd'> {
  const split = canSplit ? { s: 'split it into smaller parts' } : {};
  return {
    text: `${name}: part ${at}/${of}?`,
    about: [
      'The lines above are one part of what the session changed in this file.',
      ...(canSplit
        ? []
        : ['It has only one group of changes, so that it cannot be split. To take less of it, edit it.']),
    ],
    answers: {
      y: 'take this part',
      n: 'leave it',
      ...split,
      e: 'edit it in $EDITOR',
      a: 'take it and the rest of the file',
      d: 'leave it and the rest of the file',
    } as Readonly<Record<'y' | 'n' | 's' | 'e' | 'a' | 'd', string>>,
    onEnter: 'n',
  };
}

const MAX_DELETIONS_NAMED = 3;

/** `hasFolders`: some of what is deleted is a folder. */
export function deletionsQuestion(names: readonly string[], hasFolders: boolean): Question<'y' | 'n' | 'l' | 'e'> {
  const count = hasFolders ? `${names.length} files and folders` : amount(names.length, 'files');
  const what = names.length <= MAX_DELETIONS_NAMED ? names.join(', ') : count;
  return {
    text: `Delete ${what}?`,
    about: ['The session deleted these. They are still in your project.'],
    answers: {
      y: 'delete all of them; each suspect deletion is asked for',
      n: 'keep them',
      l: 'list them',
      e: 'ask for each',
    },
    onEnter: 'n',
  };
}

/** `stays`: what is not applied, as '1 in part, 2 left, 1 blocked'; empty where all is. */
export function selectionQuestion(taken: number, of: number, stays: string): Question<'y' | 'n'> {
  return {
    text: `Apply ${taken} of ${amount(of, 'files')}?${stays === '' ? '' : ` (${stays})`}`,
    about: ['This is the number of files that you selected. Files that are left stay pending in the session.'],
    answers: { y: 'apply what is selected', n: 'forget the selection and go back' },
    onEnter: 'n',
  };
}
