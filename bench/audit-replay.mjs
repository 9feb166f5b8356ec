// node bench/audit-replay.mjs CLONE… : replays the newest non-merge commits of local clones as if each were what a
// session had changed, and counts the commits with a finding that the user has to answer (suspect or blocked; every one
// counts). replay-paths.json lists which commits touch the build; all others are ordinary and each finding there is a
// false alarm. Prints one row of a Markdown table for each clone. Reads git objects only.
// Then, for the commits that touch the build, a row for each rule: in how many it was loud, in how many only it was, and in
// how many of those it knew nothing in the change that runs something.
// A commit of which the clone lacks a content is left out. Commits that are loud only for an action of a workflow that moved
// to another commit (ci-action-pin) are also counted apart: every repository with a bot for updates has them.
// NEW_KINDS=1 counts the first files of a kind too, as --auto-apply does.
// COUNT=120 commits a clone; SHOW=1 lists each finding of an ordinary commit, SHOW=all also those of the others.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { loadSource } from './load-source.mjs';

const [{ auditTrees, repositoryConfig, treeOf }, { openGitObjects }, { DEFAULTS }, { matcherOf }] = await loadSource(
  'review/commits/audit/audit-commit-range.ts',
  'review/commits/git-objects.ts',
  'core/config/settings.ts',
  'audit/formats/glob.ts',
);
/** What a finding says when any change of the file is one, and this change shows nothing that runs. */
const NOTHING_KNOWN = 'nothing in it that is known to run something';
const clones = process.argv.slice(2);
if (clones.length === 0) throw new Error('node bench/audit-replay.mjs CLONE…');
const { COUNT = '120', SHOW, NEW_KINDS } = process.env;
const policy = { ...DEFAULTS, autoApply: NEW_KINDS !== undefined };
const { about: _, ...groups } = JSON.parse(readFileSync(path.join(import.meta.dirname, 'replay-paths.json'), 'utf8'));
const touchesBuild = matcherOf(Object.values(groups).flat());

const emptyCounts = () => ({
  commits: 0,
  ordinary: 0,
  loud: 0,
  others: 0,
  othersLoud: 0,
  othersUnpinned: 0,
  othersUnknown: 0,
});

/**
 * Whether a clone lacks the content of a file, before or after a commit: a partial clone, say.
 * @param {string} clone
 * @param {string} commit
 * @param {string} file
 */
function isMissing(clone, commit, file) {
  return [`${commit}^`, commit].some((one) => {
    const entry = execFileSync('git', ['-C', clone, 'ls-tree', one, '--', file], { encoding: 'utf8' });
    const [, type, oid = ''] = entry.split(/\s/);
    if (type !== 'blob') return false;
    return spawnSync('git', ['-C', clone, 'cat-file', '-e', oid], { stdio: 'ignore' }).status !== 0;
  });
}

/**
 * Counts of one clone.
 * @param {string} clone
 */
async function replay(clone) {
  const git = ['-C', clone, 'rev-list', '--no-merges', '--min-parents=1', `-n${COUNT}`, 'HEAD'];
  const commits = execFileSync('git', git, { encoding: 'utf8' }).trim().split('\n');
  const objects = openGitObjects(clone, process.env);
  const config = await repositoryConfig(objects);
  const counts = emptyCounts();
  /** @type {Map<string, number>} */
  const rules = new Map();
  /** @type {number[]} */
  const times = [];
  /** @type {string[]} */
  const shown = [];
  for (const commit of commits) {
    const started = performance.now();
    const [before, after] = await Promise.all([treeOf(objects, `${commit}^`), treeOf(objects, commit)]);
    const review = await auditTrees({ git: objects, before, after, config, policy });
    times.push(performance.now() - started);
    const isOrdinary = !review.items.some((/** @type {{ change: { path: string } }} */ { change }) =>
      touchesBuild(change.path),
    );
    const findings = [
      ...review.items.flatMap((/** @type {{ findings: object[] }} */ item) => item.findings),
      ...review.general,
    ];
    const loud = findings.filter(({ severity }) => severity !== 'note');
    if (loud.some(({ rule, path: file }) => rule === 'unreadable' && isMissing(clone, commit, file))) continue;
    counts.commits += 1;
    counts[isOrdinary ? 'ordinary' : 'others'] += 1;
    if (loud.length > 0) counts[isOrdinary ? 'loud' : 'othersLoud'] += 1;
    if (!isOrdinary && loud.length > 0) countBuild(loud, counts);
    if (!isOrdinary && loud.some(({ rule }) => rule !== 'ci-action-pin')) counts.othersUnpinned += 1;
    if (isOrdinary)
      for (const rule of new Set(loud.map((one) => one.rule))) rules.set(rule, (rules.get(rule) ?? 0) + 1);
    if (isOrdinary || SHOW === 'all')
      for (const { rule, path: file, detail, line } of loud)
        shown.push(
          `${commit.slice(0, 8)} ${isOrdinary ? 'ordinary' : 'build'} ${rule} ${file}:${line ?? ''} ${detail ?? ''}`,
        );
  }
  return { ...counts, rules, shown, median: times.sort((a, b) => a - b)[times.length >> 1] ?? 0 };
}

/** @type {Map<string, { loud: number, alone: number, unknown: number }>} */
const buildRules = new Map();

/**
 * Counts the rules of a commit that touches the build.
 * @param {{ rule: string, detail?: string }[]} loud
 * @param {{ othersUnknown: number }} counts
 */
function countBuild(loud, counts) {
  const unknown = loud.every(({ detail }) => detail === NOTHING_KNOWN);
  if (unknown) counts.othersUnknown += 1;
  const names = new Set(loud.map(({ rule }) => rule));
  for (const name of names) {
    const row = buildRules.get(name) ?? { loud: 0, alone: 0, unknown: 0 };
    row.loud += 1;
    if (names.size === 1) row.alone += 1;
    if (names.size === 1 && unknown) row.unknown += 1;
    buildRules.set(name, row);
  }
}

const share = (/** @type {number} */ part, /** @type {number} */ all) =>
  all === 0 ? '' : ` (${((100 * part) / all).toFixed(part === 0 ? 0 : 1)}%)`;
const sum = emptyCounts();
console.log(
  '| repository | commits | ordinary | loud | rules, in how many commits | others | loud | without ci-action-pin | nothing known | ms |',
);
console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |');
const row = (/** @type {string} */ name, /** @type {typeof sum} */ one, /** @type {string} */ rules, ms = '') =>
  console.log(
    `| ${name} | ${one.commits} | ${one.ordinary} | ${one.loud}${share(one.loud, one.ordinary)} | ${rules} | ` +
      `${one.others} | ${one.othersLoud}${share(one.othersLoud, one.others)} | ` +
      `${one.othersUnpinned}${share(one.othersUnpinned, one.others)} | ${one.othersUnknown} | ${ms} |`,
  );
for (const clone of clones) {
  const one = await replay(clone);
  const rules = [...one.rules].sort((a, b) => b[1] - a[1]).map(([rule, times]) => `\`${rule}\` ${times}`);
  const parts = path
    .resolve(clone)
    .split(path.sep)
    .filter((part) => part !== 'repo' && part !== '.git');
  row(parts.at(-1) ?? clone, one, rules.join(', '), one.median.toFixed(0));
  for (const key of /** @type {(keyof typeof sum)[]} */ (Object.keys(sum))) sum[key] += one[key];
  if (SHOW !== undefined) for (const line of one.shown) console.log(`    ${line.slice(0, 400)}`);
}
row('all', sum, '');
console.log('\n| rule | loud | the only rule | nothing known |\n| --- | --- | --- | --- |');
for (const [rule, { loud, alone, unknown }] of [...buildRules].sort((a, b) => b[1].loud - a[1].loud))
  console.log(`| \`${rule}\` | ${loud} | ${alone} | ${unknown} |`);
