import { edit, type Row, row } from './rows.ts';
import { config } from './rows-git.ts';

const HARMLESS_CONFIG = { '.git/config': config('color.ui = auto') };

/** Near misses of rules whose rows are about what is planted alone. */
export const NEAR_ROWS: readonly Row[] = [
  row(
    'new-kind',
    'new-kind',
    { 'src/a.mdx': 'x' },
    { 'src/z.md': 'x' },
    Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`src/a${n}.md`, 'x'])),
  ),
  row(
    'near',
    'ci-contact',
    { 'SECURITY.md': edit('', 'Write to a@example.org\n') },
    { 'SECURITY.md': edit('', 'We answer soon.\n') },
  ),
  row('near', 'binary-package', { 'a.whl': { bytes: 'PK\u0003\u0004' } }, { 'docs/a.whl.md': 'x' }),
  row('near', 'commit-words', { '.gitmessage': '[skip ci]\n' }, { 'docs/commits.md': '[skip ci]\n' }),
  row(
    'near',
    'text-long-line',
    { 'a.js': edit('x\n', `x\n${'y'.repeat(600)}\n`) },
    { 'a.js': edit('x\n', `x\n${'y'.repeat(200)}\n`) },
  ),
  row('near', 'text-not-utf8', { 'a.c': { bytes: 'int a; // \u00ff' } }, { 'a.c': 'int a; // \u00ff' }),
  row(
    'near',
    'large-file',
    { 'a.bin': { more: { after: { size: 200 << 20 } } } },
    { 'a.bin': { more: { after: { size: 20 << 20 } } } },
  ),
  row('near', 'git-alternates', { '.git/objects/info/alternates': '/x\n' }, { '.git/objects/info/packs': 'P x\n' }),
  row('near', 'git-config', { '.git/config': { link: 'x' } }, HARMLESS_CONFIG),
  row('near', 'git-config-unreadable', { '.git/config': ']\n' }, HARMLESS_CONFIG),
  row('near', 'git-data', { '.git/index': 'x' }, { index: 'x' }),
  row('near', 'git-link', { '.git/refs/x': { link: 'y' } }, { '.git/refs/x': 'y' }),
  row('near', 'git-modules', { '.git/modules/a/HEAD': 'x' }, { '.git/refs/heads/modules': 'x' }),
  row('near', 'git-nested', { 'sub/.git': { more: { kind: 'dir' } } }, { 'sub/git': { more: { kind: 'dir' } } }),
  row('near', 'git-stash', { '.git/refs/stash': 'x' }, { '.git/refs/heads/stash': 'x' }),
  row('near', 'git-tool-file', { '.git/lazygit.yml': 'x' }, { 'docs/lazygit.md': 'x' }),
  row('near', 'git-unknown', { '.git/surprise': 'x' }, { '.git/ORIG_HEAD': 'x' }),
  row('near', 'git-commit-tools', { '.gitchangelog.rc': 'import os\n' }, { 'docs/gitchangelog.md': 'import os\n' }),
  row('near', 'git-mailmap', { '.mailmap': edit('', 'A <a@b> <c@d>\n') }, { '.mailmap': edit('', '# words\n') }),
  row('near', 'name-backslash', { 'a\\b': 'x' }, { 'a-b': 'x' }),
  row('near', 'name-ends-odd', { 'a ': 'x' }, { 'a b': 'x' }),
  row('near', 'name-litter', { 'a.orig': 'x' }, { 'a.original': 'x' }),
  row('near', 'name-not-utf8', { '\udcff': 'x' }, { '\u00ff': 'x' }),
  row('near', 'name-shell', { '$(x)': 'x' }, { 'a(x)': 'x' }),
  row('near', 'many-changes', Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`a/${at}.txt`, 'x'])), {
    'a/1.txt': 'x',
  }),
];

const ranges = (section: string, text: string): string[] =>
  text.split(' ').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, at) => `${section}-${String(from + at).padStart(3, '0')}`);
  });

/** The catalogue of attacks by number: A git, B files that run, C content and names, F what of Claude's is in a project. */
export const CATALOGUE: readonly string[] = [
  ...ranges(
    'A',
    '1-6 8-13 15-20 22-23 25-29 31 33-38 40-42 44-45 47-50 52 54-56 58-59 61-65 67 69-72 74 76-83 85 87-89 91-92 94-95 97 99-101 103-105 107 109-111 113-114 116-120 122-125 127-131 133 135-138 140-141 143-145 147 149-151 153-154 156-158 160-162 164-165 167-169 171-172 174-176 178-179 181-183 185 187',
  ),
  ...ranges(
    'B',
    '1-3 5-6 8-10 12-14 16-18 20-23 25-27 29 31-33 35-39 41-43 45-46 48-50 52-54 56-61 63-64 66-69 71-72 74-75 77-80 82-83 85-88 90-91 93-96 98-101 103-105 107-110 112-114 116-119 121-126 128-129 131-132 134-136 138-141 143-145 147-149 151-154 156-157 159-163 165-166 168 170-172 174-175 177-182 184 186-187 189-190 192-194 196-199 201-204 206-207 209-210 212-214 216-217 219-221 223-225 227-229 231-234 236-237 239 241-242 244-246 248',
  ),
  ...ranges(
    'C',
    '1-3 5-8 10-11 13-16 18-20 22-23 25-28 30 32-35 37-38 40-42 44-46 48-50 52-53 55-58 60-62 64-69 71-72 74-75 77-79 81-82 84-87 89-90 92-93 95',
  ),
  ...ranges('F', '1-5 7-8 10-12 14-15 17-18 28-32 34 37-40 50-52 86 110'),
];
