import { escapes, oddBreaks, richCharacters } from '../content/characters.ts';
import { longLine } from '../content/long-lines.ts';
import { hiddenBelow, hiddenRight } from '../content/off-screen.ts';
import { programOfPage } from '../content/page-programs.ts';
import type { TextChange } from '../content/text-change.ts';
import { isSource } from '../formats/text-files.ts';
import { BINARY_RULES } from './binary.ts';
import { EVERY, type Found, type GeneralRule, type SeeingLook } from './rule.ts';

const READING = 'reading or reviewing the file';
const RICH_CHARACTERS: SeeingLook<'text'> = { kind: 'text', see: richCharacters };

/** The rules on files report what they cannot parse. */
export const TOO_MUCH: GeneralRule = {
  id: 'too-much',
  title: 'File with too much in it to judge',
  family: 'content',
  when: READING,
  severity: 'suspect',
  files: EVERY,
  look: [{ kind: 'reported' }],
  about: 'over 20,000 keys of YAML, 50,000 of another format, or 100 levels, in a file that a rule parses',
  why: 'A rule has to parse it, and it holds more keys, levels or aliases than the rule reads.',
  source: 'docs/audit.md',
};

/** No rule on text reads such a text. */
export const TEXT_LONG: GeneralRule = {
  id: 'text-long',
  title: 'Text too long to judge',
  family: 'content',
  when: READING,
  severity: 'suspect',
  files: EVERY,
  look: [{ kind: 'reported' }],
  about: 'over 8 MB',
  why: 'Nobody can review it, and no rule has read it.',
  source: 'docs/audit.md',
};

/** New lines are searched for secrets together with the rules on single lines. */
export const SECRET: GeneralRule = {
  id: 'secret',
  title: 'Secret written into a file',
  family: 'content',
  when: 'push, publishing',
  severity: 'suspect',
  files: EVERY,
  look: [{ kind: 'reported' }],
  about: 'new lines, also behind one layer of base64',
  why: 'Everyone who gets the file, a commit or a package has it.',
  source: 'formats that their issuers publish',
};

/** Rules on bytes and characters, whatever the file is called. */
export const CONTENT_RULES: readonly GeneralRule[] = [
  ...BINARY_RULES,
  TOO_MUCH,
  TEXT_LONG,
  {
    id: 'text-not-utf8',
    title: 'Invalid UTF-8 in a text file',
    family: 'content',
    when: READING,
    severity: 'suspect',
    files: EVERY,
    look: [{ kind: 'text', see: invalidUtf8 }],
    about: 'source files; other files that were valid',
    why: 'Editors, reviewers and interpreters read different characters.',
    source: 'Unicode 3.9',
  },
  {
    id: 'text-bom',
    title: 'Byte order mark changed',
    family: 'content',
    when: 'running it',
    severity: 'note',
    files: EVERY,
    look: [{ kind: 'text', see: byteOrderMark }],
    about: 'the first bytes',
    why: 'Interpreters read the first line, a shebang included, in another way.',
    source: 'Unicode 23.8',
  },
  {
    id: 'text-escapes',
    title: 'Terminal control characters',
    family: 'content',
    when: 'cat, git log -p',
    severity: 'suspect',
    files: EVERY,
    look: [{ kind: 'text', see: escapes }],
    about: 'new lines; a note for plain colours in text and logs',
    cases: { colours: { severity: 'note', title: 'Colours of a terminal' } },
    why: 'Printing the file controls the terminal, or hides a part of the file.',
    source: 'ECMA-48',
  },
  {
    id: 'text-breaks',
    title: 'Unusual line breaks',
    family: 'content',
    when: READING,
    severity: 'suspect',
    files: EVERY,
    look: [{ kind: 'text', see: oddBreaks }],
    about: 'CR, NEL, LS, PS, VT within source',
    why: 'Some tools see a new line where others see the rest of a comment.',
    source: 'Unicode UAX 14',
  },
  {
    id: 'text-bidi',
    title: 'Text that changes direction',
    family: 'content',
    when: READING,
    severity: 'suspect',
    files: EVERY,
    look: [RICH_CHARACTERS],
    about: 'new lines',
    cases: { prose: { severity: 'note' } },
    why: 'It runs in another order than it is shown.',
    source: 'CVE-2021-42574',
  },
  {
    id: 'text-invisible',
    title: 'Invisible characters',
    family: 'content',
    when: READING,
    severity: 'suspect',
    files: EVERY,
    look: [RICH_CHARACTERS],
    about: 'new lines',
    cases: { prose: { severity: 'note' } },
    why: 'Names, keys and URLs differ from what is shown.',
    source: 'Unicode UTS 39',
  },
  {
    id: 'text-tags',
    title: 'Invisible tag characters',
    family: 'content',
    when: 'an assistant reads the file',
    severity: 'suspect',
    files: EVERY,
    look: [RICH_CHARACTERS],
    about: 'new lines',
    why: 'A language model reads them, a user does not see them.',
    source: 'Unicode 23.9',
  },
  {
    id: 'text-selectors',
    title: 'Data in variation selectors',
    family: 'content',
    when: READING,
    severity: 'suspect',
    files: EVERY,
    look: [RICH_CHARACTERS],
    about: 'new lines',
    why: 'They carry bytes that no editor shows.',
    source: 'Unicode 23.4',
  },
  {
    id: 'text-homoglyph',
    title: 'Identifier with look-alike letters',
    family: 'content',
    when: READING,
    severity: 'suspect',
    files: EVERY,
    look: [RICH_CHARACTERS],
    about: 'new lines of source and data',
    cases: {
      mark: {
        title: 'Mark that looks like another',
        why: 'It is a letter or its own mark, not the operator or separator that it looks like.',
      },
    },
    why: 'It is another name than the one that it looks like.',
    source: 'CVE-2021-42694',
  },
  {
    id: 'text-hidden-right',
    title: 'Code pushed off the screen',
    family: 'content',
    when: READING,
    severity: 'suspect',
    files: EVERY,
    look: [{ kind: 'text', see: hiddenRight }],
    about: 'new lines of programs: blanks of any kind, by their width',
    why: 'A long run of blanks hides what follows it.',
    source: 'PyPI malware reports',
  },
  {
    id: 'text-hidden-below',
    title: 'Code after many empty lines',
    family: 'content',
    when: READING,
    severity: 'suspect',
    files: EVERY,
    look: [{ kind: 'text', see: hiddenBelow }],
    about: 'programs: over 100 empty lines, or over 200 lines of comments or data before a line that runs something',
    cases: { filler: { title: 'Code after many lines of comments or data' } },
    why: 'A long run of lines without code hides what follows it.',
    source: 'malware reports',
  },
  {
    id: 'text-long-line',
    title: 'Very long line',
    family: 'content',
    when: READING,
    severity: 'suspect',
    files: EVERY,
    look: [{ kind: 'text', see: longLine }],
    about: 'over 500 characters in source that had none',
    cases: { new: { severity: 'note' } },
    why: 'Reviewers see only its beginning.',
    source: 'malware reports',
  },
  {
    id: 'page-program',
    title: 'Program in a page',
    family: 'content',
    when: 'building the pages',
    severity: 'suspect',
    files: EVERY,
    look: [{ kind: 'text', see: programOfPage }],
    about:
      'Markdown and reStructuredText: JavaScript as front matter, scripts and exports that start programs or load code, and blocks that are executed',
    why: 'The generator of the pages runs it.',
    source: 'VitePress, Eleventy, MDX, markdown-exec, Sphinx',
  },
  SECRET,
];

/** Bytes that are not UTF-8 are decoded to single surrogates of this range (text/path.ts). */
function hasInvalidUtf8(text: string): boolean {
  return /[\udc80-\udcff]/.test(text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, ''));
}

function invalidUtf8({ path, text, oldText }: TextChange): readonly Found[] {
  const counts = (): boolean => (oldText === undefined ? isSource(path) : !hasInvalidUtf8(oldText));
  return hasInvalidUtf8(text) && counts() ? [{}] : [];
}

/** The mark was added or removed. */
function byteOrderMark({ text, oldText }: TextChange): readonly Found[] {
  return oldText !== undefined && text.startsWith('\ufeff') !== oldText.startsWith('\ufeff') ? [{}] : [];
}
