#!/usr/bin/env node
/**
 * Reports unclear words in messages, help, documents, comments and test names:
 *   node scripts/check-language.mjs [PATH…]
 * Prints `file:line: phrase (use: …)` for each, and exits with 1 if there is any. With paths, checks only the files
 * below them.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseSync } from 'rolldown/utils';

/** Pairs: a phrase to avoid, and what to write instead. A phrase matches in any letter case, at word boundaries. */
const GLOSSARY = [
  // 'needs a person' is the name of a verdict.
  [/(?<!\bneeds )\b(the|a|one|this|that|each|another) person\b|\bperson's\b|\bsomebody\b|\bone's\b/, 'the user, you'],
  [/\b(lies|lie|lay|stands|stand|stood) in(?!-)\b/, 'is in, is stored in'],
  [/\b(stands|stand|stood) on\b/, 'references, uses'],
  [/\bgone\b|\b(that|it|what|which) goes\b|\bgoes away\b/, 'is removed, was deleted, no longer exists'],
  [/(?<!\b(?:there|here|where) )\bis no (?!longer\b|more\b|less\b|such\b)/, 'is not a'],
  [/\b(of|is|are) (ours|theirs)\b/, "run-claude's, the user's"],
  [/\bmeanwhile\b/, 'concurrently, in the meantime, since then'],
  [/\bsaid\b|\btold\b/, 'printed, reported, documented'],
  [/\bmended?\b|\bmending\b/, 'fixed'],
  [/\b(look|looks|looked|looking) ahead\b|\bwalk(s|ed)? twice\b/, 'scan, prescan, rescan'],
  [/\b(take|takes|took|taken|taking) (it |them |this |that )?back\b/, 'undo'],
  [/\b(what|that|which|session) waits\b/, 'pending changes, a pending session'],
  [/\bpour(s|ed|ing)?\b/, 'stream, pipe'],
  [/\bsettle(s|d)?\b|\bsettling\b/, 'decide, finish, flush'],
  [/\bthrow-?away\b|\bbegin-look\b/, 'scratch layer, prescan'],
  [/\bforeign images?\b/, 'custom image'],
  [/\bwishes\b/, 'suspicious edits'],
  [/\bcame to anything\b/, 'produced a result'],
  [/(?<!['"`/(])\bbeside (a|an|the|its|their|it|them|each|another|other|which|whose|these|those)\b/, 'next to, extra'],
  [/\b(is|are) (not )?carried (there|on|by)\b|\bnot carried\b(?! out)/, 'supported, passed on'],
];

/** Lines that may contain the words. Each has its reason. */
const EXCEPTIONS = [
  // Examples of what not to write.
  { file: 'CONTRIBUTING.md', text: '~~' },
  // The name of the trash directory on disk: earlier releases have written it, so it stays.
  { file: 'src/workspace/base/generations/trash.ts', text: 'gone' },
  { file: 'src/session/later/gc/gc.ts', text: "join(dir, 'gone')" },
];

const WHOLE = /\.(md|sh|c|h|toml|yml|yaml)$|(^|\/)Dockerfile[^/]*$/;
const CODE = /\.(ts|mts|cts|mjs|cjs|js)$/;
const SKIPPED = /^(CHANGELOG\.md|scripts\/check-language\.mjs|docs\/LICENSES)|(^|\/)fixtures?\//;
const NAMES = new Set(['describe', 'it', 'test']);

/**
 * Comments and strings of a program, as `{ start, text }` with the offset of each. In a test file: its comments and the
 * names of its tests.
 */
function proseOf(file, source) {
  const { program, comments } = parseSync(file, source);
  const pieces = comments.map(({ start, value }) => ({ start, text: value }));
  const inTest = file.startsWith('test/');
  const visit = (node, isName) => {
    if (Array.isArray(node)) for (const each of node) visit(each, isName);
    if (node === null || typeof node !== 'object' || Array.isArray(node)) return;
    if (isName || !inTest) {
      if (node.type === 'Literal' && typeof node.value === 'string') pieces.push({ start: node.start, text: node.raw });
      if (node.type === 'TemplateElement') pieces.push({ start: node.start, text: node.value.raw });
    }
    const named = node.type === 'CallExpression' && NAMES.has(rootName(node.callee));
    for (const [key, child] of Object.entries(node)) {
      if (typeof child !== 'object') continue;
      if (named && key === 'arguments') {
        visit(child[0], true);
        visit(child.slice(1), false);
      } else visit(child, isName && node.type !== 'ArrowFunctionExpression');
    }
  };
  visit(program, false);
  return pieces;
}

/** Returns `it` for the callee of `it.each(rows)('name', …)`. */
function rootName(callee) {
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type === 'MemberExpression') return rootName(callee.object);
  if (callee.type === 'CallExpression' || callee.type === 'TaggedTemplateExpression')
    return rootName(callee.callee ?? callee.tag);
  return undefined;
}

const listed = execFileSync(
  'git',
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...process.argv.slice(2)],
  {
    encoding: 'utf8',
  },
);
let found = 0;
for (const file of listed.split('\0')) {
  if (file === '' || SKIPPED.test(file) || !(WHOLE.test(file) || CODE.test(file))) continue;
  let source;
  try {
    source = readFileSync(file, 'utf8');
  } catch {
    continue; // deleted, and not committed yet
  }
  const pieces = CODE.test(file) ? proseOf(file, source) : [{ start: 0, text: source }];
  for (const { start, text } of pieces) {
    for (const [phrase, use] of GLOSSARY) {
      for (const match of text.matchAll(new RegExp(phrase, 'gi'))) {
        const line = source.slice(0, start + match.index).split('\n').length;
        const whole = source.split('\n')[line - 1] ?? '';
        if (EXCEPTIONS.some(({ file: where, text: kept }) => where === file && whole.includes(kept))) continue;
        console.log(`${file}:${line}: ${match[0]} (use: ${use})`);
        found += 1;
      }
    }
  }
}
if (found > 0) console.error(`${found} words of the glossary's left column. CONTRIBUTING.md says how text is written.`);
process.exit(found > 0 ? 1 : 0);
