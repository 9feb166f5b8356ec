import { visible } from '../../core/text/visible.ts';
import type { Change } from '../../core/types/entry.ts';
import type { Finding } from '../../core/types/finding.ts';

/** What the text of a commit and a pull request is made of. */
export interface Published {
  readonly sessionId: string;
  readonly tool: string;
  /** The user's own words: `--title`, or the note of the session. */
  readonly title: string | undefined;
  /** Changes that are in the commit. */
  readonly changes: readonly Change[];
  /** Findings on them. The user accepted the suspect ones by name. */
  readonly findings: readonly Finding[];
  /** Number of the session's changes that are not in the commit. */
  readonly left: number;
}

const MAX_TITLE_CHARACTERS = 100;
const MAX_ROWS = 100;
const MAX_INERT_CHARACTERS = 200;
/**
 * What a forge or a reader's browser would act on: mentions, references to issues (behind which a closing keyword may
 * be), links, HTML and its comments, code spans that would end, and marks that skip CI. A squashed commit takes over the
 * text of a pull request, so a code span alone is not enough.
 */
const ACTIVE = /[@<>`#]|(?<=\bGH)-(?=\d)|:(?=\/\/)|(?<=\bwww)\.|\[(?=[^\]]*\b(?:skip|ci|no)\b)/gi;

/** One line in the user's own words; without them, a line without any text of the session. Pure. */
export function titleOf({ title, sessionId, changes }: Published): string {
  const [first = ''] = (title ?? '').trim().split('\n');
  const own = visible(first.trim()).slice(0, MAX_TITLE_CHARACTERS);
  return own === '' ? `Apply session ${sessionId} (${countText(changes)})` : own;
}

/** The message of the commit. It has no text of the session: forges act on what a message says. Pure. */
export function messageOf(published: Published): string {
  const { sessionId, tool, changes } = published;
  return `${titleOf(published)}\n\nSession ${sessionId} of run-claude ${tool}: ${countText(changes)}.\n`;
}

/** The description of a pull request. Every name of the session is a code span that nothing acts on. Pure. */
export function bodyOf(published: Published): string {
  const { sessionId, tool, changes, findings, left } = published;
  const files = rows(changes, ({ kind, path }) => `- ${kind}: ${inertText(path)}`);
  const found = rows(findings, ({ severity, path, title }) => `- ${severity}: ${inertText(path)}: ${inertText(title)}`);
  return [
    `An agent made these changes in run-claude ${tool} (session ${sessionId}). Names are shown as the session wrote them, with escapes for what acts.`,
    '',
    `## ${countText(changes)}`,
    '',
    ...files,
    ...(left === 0
      ? []
      : ['', `${left} more ${left === 1 ? 'change of the session is' : 'changes of the session are'} not here.`]),
    '',
    '## Findings of the audit',
    '',
    ...(found.length === 0 ? ['None.'] : found),
    '',
  ].join('\n');
}

function rows<T>(items: readonly T[], row: (item: T) => string): string[] {
  const more = items.length - MAX_ROWS;
  return [...items.slice(0, MAX_ROWS).map(row), ...(more > 0 ? [`- and ${more} more`] : [])];
}

function countText(changes: readonly Change[]): string {
  const files = changes.filter(({ after, before }) => (after ?? before)?.kind !== 'dir').length;
  return `${files} ${files === 1 ? 'file' : 'files'} changed`;
}

/**
 * Text of a session for a pull request, on one line, as a code span: each character that would act is shown as an escape
 * (`\x40` for `@`). Pure.
 */
export function inertText(text: string): string {
  const shown = visible(text).replace(ACTIVE, (char) => `\\x${char.charCodeAt(0).toString(16)}`);
  const cut = shown.length > MAX_INERT_CHARACTERS ? `${shown.slice(0, MAX_INERT_CHARACTERS)}… (cut)` : shown;
  return `\`${cut}\``;
}
