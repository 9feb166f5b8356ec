// node bench/audit-replay.mjs CLONE [COMMITS]: replays the newest commits of a local clone, merges left out, as if each
// were what a session had changed, and counts how often the audit says suspect or blocked, and which rules. For false
// alarms: read with the thought that these commits were all meant. Only objects are read. SHOW=1 in the
// environment lists each finding.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { loadSource } from './load-source.mjs';

const [{ auditCommits }, { DEFAULTS }] = await loadSource('session/audit-commits.ts', 'config/settings.ts');

const [clone, count = '200'] = process.argv.slice(2);
if (clone === undefined) throw new Error('node bench/audit-replay.mjs CLONE [COMMITS]');
/** Files that say how a project is built, checked, edited or released: where a finding is no false alarm. */
const SETTINGS =
  /(^|\/)(\.[^/]+|[^/]*(config|rc|conf|requirements)[^/]*\.[a-z]+|(package|package-lock|pnpm-lock|pnpm-workspace|turbo|action|composer|tsconfig[^/]*|deno)\.(json|ya?ml|lock)|(makefile|dockerfile|gemfile|rakefile|jenkinsfile|cargo|pyproject|poetry|uv|tox|setup|conftest|noxfile|go)[^/]*|[^/]*\.(mk|cmake|gradle|gradle\.kts|lock|toml|gyp|gemspec|csproj|props|targets|nix|sh|rake)|gradlew[^/]*|gradle[^/]*\.(jar|properties)|brewfile|cmakelists\.txt|configure[^/]*|claude\.md|agents\.md|codeowners)$|^(\.[^/]+|ci|build|build-logic|buildSrc|scripts|tools|docker|deploy)\//i;

const commits = execFileSync('git', ['-C', clone, 'rev-list', '--no-merges', '--min-parents=1', `-n${count}`, 'HEAD'], {
  encoding: 'utf8',
})
  .trim()
  .split('\n');
const totals = { ordinary: 0, ordinaryLoud: 0, settings: 0, settingsLoud: 0 };
/** @type {Map<string, number>} */
const rules = new Map();
/** @type {string[]} */
const shown = [];
for (const commit of commits) {
  const { review } = await auditCommits(clone, `${commit}^..${commit}`, DEFAULTS, process.env);
  const paths = review.items.map((/** @type {{ change: { path: string } }} */ item) => item.change.path);
  const loud = [
    ...review.items.flatMap((/** @type {{ findings: object[] }} */ item) => item.findings),
    ...review.general,
  ].filter(({ severity, detail }) => severity !== 'note' && !detail?.includes('nothing in it that is known'));
  const ordinary = !paths.some((/** @type {string} */ one) => SETTINGS.test(one));
  totals[ordinary ? 'ordinary' : 'settings'] += 1;
  if (loud.length === 0) continue;
  totals[ordinary ? 'ordinaryLoud' : 'settingsLoud'] += 1;
  if (!ordinary) continue;
  for (const rule of new Set(loud.map(({ rule: id }) => id))) rules.set(rule, (rules.get(rule) ?? 0) + 1);
  shown.push(...loud.map(({ rule, path: file, detail }) => `${commit.slice(0, 8)} ${rule} ${file} ${detail ?? ''}`));
}
const share = totals.ordinary === 0 ? 0 : Math.round((100 * totals.ordinaryLoud) / totals.ordinary);
console.log(
  `${path.basename(path.resolve(clone))}: ${commits.length} commits, ${totals.ordinary} touch no setting; of those ` +
    `${totals.ordinaryLoud} (${share}%) have a suspect or blocked change; of the other ${totals.settings}, ${totals.settingsLoud}`,
);
for (const [rule, times] of [...rules].sort((a, b) => b[1] - a[1])) console.log(`  ${times} ${rule}`);
if (process.env['SHOW'] !== undefined) for (const line of shown) console.log(`    ${line.slice(0, 200)}`);
