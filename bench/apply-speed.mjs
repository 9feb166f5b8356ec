// node bench/apply-speed.mjs [EDITED] [MOVED]: apply and undo of a session that edited and moved files, compared
// with `git checkout` of the same change set followed by `sync`, in turn on the same disk. Medians of
// RUN_CLAUDE_BENCH_ROUNDS (3) rounds after a warm-up. RUN_CLAUDE_BENCH_DIR: the directory (default: that of temporary
// files). A move is two entries. Needs git.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadSource } from './load-source.mjs';
import { quiet } from './scene.mjs';
import { median } from './session.mjs';

const ROUNDS = Number(process.env['RUN_CLAUDE_BENCH_ROUNDS'] ?? 3);
const [edited = 2000, moved = 2000] = process.argv.slice(2).map(Number);
const [{ applyChanges }, { undoApply }, { openContentStore }] = await loadSource(
  'review/apply/apply-changes.ts',
  'review/apply/undo.ts',
  'core/store/content.ts',
);
const root = mkdtempSync(path.join(process.env['RUN_CLAUDE_BENCH_DIR'] ?? tmpdir(), 'run-claude-apply-'));
process.on('exit', () => rmSync(root, { recursive: true, force: true }));

/** @param {number} at @param {string} first */
const text = (at, first) => `${first} ${at}\n${'a line of a file of some length\n'.repeat(60)}`;
/** @param {string} kind @param {number} at */
const name = (kind, at) => `${kind}/d${Math.floor(at / 40)}/src/f${at}.txt`;

/** @param {string} content */
const entry = (content) => ({
  kind: 'file',
  mode: 0o644,
  size: Buffer.byteLength(content),
  mtimeNs: '0',
  digest: createHash('sha256').update(content).digest('hex'),
});

/** @type {{ path: string, kind: string, before?: object, after?: object }[]} */
const changes = [];
/** @type {Map<string, string>} */
const base = new Map();
/** @type {Map<string, string>} */
const session = new Map();
for (let at = 0; at < edited; at += 1) {
  base.set(name('edited', at), text(at, 'before'));
  session.set(name('edited', at), text(at, 'after'));
}
for (let at = 0; at < moved; at += 1) {
  base.set(name('old', at), text(at, 'moved'));
  session.set(name('new', at), text(at, 'moved'));
}
const folders = new Set(
  [...session.keys()].flatMap((file) => parents(file)).filter((folder) => folder.startsWith('new')),
);
for (const folder of folders)
  changes.push({ path: folder, kind: 'created', after: { kind: 'dir', mode: 0o755, size: 0, mtimeNs: '0' } });
for (const file of new Set([...base.keys(), ...session.keys()])) {
  const [before, after] = [base.get(file), session.get(file)];
  if (before === after) continue;
  const kind = before === undefined ? 'created' : after === undefined ? 'deleted' : 'modified';
  changes.push({
    path: file,
    kind,
    ...(before === undefined ? {} : { before: entry(before) }),
    ...(after === undefined ? {} : { after: entry(after) }),
  });
}

/** @param {string} file */
function parents(file) {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

/** @param {string} project @param {Map<string, string>} files */
function write(project, files) {
  for (const [file, content] of files) {
    mkdirSync(path.dirname(path.join(project, file)), { recursive: true });
    writeFileSync(path.join(project, file), content);
  }
}

/** The same change set as two commits; the first is checked out. */
function layGit() {
  const clone = path.join(root, 'git');
  mkdirSync(clone);
  quiet(clone, 'git', 'init', '-q', '-b', 'before');
  quiet(clone, 'git', 'config', 'gc.auto', '0');
  const commit = () => {
    quiet(clone, 'git', 'add', '-A');
    quiet(clone, 'git', '-c', 'user.name=b', '-c', 'user.email=b@example.org', 'commit', '-q', '-m', 'all');
  };
  write(clone, base);
  commit();
  quiet(clone, 'git', 'checkout', '-q', '-b', 'after');
  for (const file of base.keys()) if (!session.has(file)) rmSync(path.join(clone, file));
  write(clone, session);
  commit();
  quiet(clone, 'git', 'checkout', '-q', 'before');
  return clone;
}

const clone = layGit();
/** @param {string} branch */
function checkout(branch) {
  quiet(clone, 'git', 'checkout', '-q', branch);
  quiet(clone, 'sync');
}

const project = path.join(root, 'project');
mkdirSync(project);
write(project, base);
execFileSync('sync');
const frozen = path.join(root, 'frozen');
{
  const store = openContentStore(frozen);
  // Both sides, as a session's end freezes them.
  for (const content of [...base.values(), ...session.values()]) await store.put([Buffer.from(content)]);
  await store.flush();
}

/** @type {Record<string, number[]>} */
const times = { apply: [], undo: [], 'git checkout and sync': [], 'git checkout back and sync': [] };
let peak = 0;
/** @param {string} what @param {boolean} counts @param {() => unknown} run */
async function measure(what, counts, run) {
  const start = performance.now();
  await run();
  if (counts) times[what]?.push(performance.now() - start);
  peak = Math.max(peak, process.memoryUsage.rss());
}

for (let round = 0; round <= ROUNDS; round += 1) {
  const sessionDir = path.join(root, 'state', 'sessions', String(round));
  mkdirSync(sessionDir, { recursive: true });
  quiet(root, 'cp', '-a', frozen, path.join(sessionDir, 'store'));
  quiet(root, 'sync');
  const common = () => ({
    project,
    sessionDir,
    store: openContentStore(path.join(sessionDir, 'store')),
    tell: () => undefined,
    dryRun: false,
  });
  const choice = {
    decided: true,
    discard: false,
    chosen: changes.map((change) => ({ change })),
    left: [],
    folders: [],
  };
  const rest = { choice, conflict: 'keep', audit: () => [], acceptMerge: async () => true };
  await measure('apply', round > 0, async () => {
    const { changes: done } = await applyChanges({ ...common(), ...rest });
    const failed = done.filter((/** @type {{ verdict: string }} */ { verdict }) => verdict !== 'applied');
    if (failed.length > 0) throw new Error(`apply: ${JSON.stringify(failed.slice(0, 3))}`);
  });
  await measure('git checkout and sync', round > 0, () => checkout('after'));
  await measure('undo', round > 0, () => undoApply(common()));
  await measure('git checkout back and sync', round > 0, () => checkout('before'));
  // The store would have the pre-images of an earlier round.
  renameSync(sessionDir, path.join(root, `done-${round}`));
  rmSync(path.join(root, `done-${round}`), { recursive: true });
}

const files = changes.length - folders.size;
console.log(
  `${edited} files edited, ${moved} moved: ${files} entries of files, ${folders.size} of folders; peak ${Math.round(peak / 2 ** 20)} MB\n`,
);
console.log('| kind | median | compared with git |\n|---|---|---|');
for (const [ours, rival] of [
  ['apply', 'git checkout and sync'],
  ['undo', 'git checkout back and sync'],
]) {
  const [a, b] = [median(times[String(ours)] ?? []), median(times[String(rival)] ?? [])];
  console.log(`| ${ours} | ${(a / 1000).toFixed(2)} s | ${(a / b).toFixed(1)} times |`);
  console.log(`| ${rival} | ${(b / 1000).toFixed(2)} s | 1 |`);
}
