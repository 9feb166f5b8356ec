// node bench/audit-speed.mjs [CHANGES] [FILES] [cold]: the time that the audit takes over changed files of ordinary
// source in a project of many, the median of five runs after a first one. Each run has a loop of known work next to it
// (SHA-256 of 64 MB): on a busy machine their ratio is more reliable than the milliseconds. Contents are hashed at
// every read, as a session's store does. The audit is warmed up first, as a session does while the agent works; `cold`
// omits the warm-up.
import { createHash } from 'node:crypto';
import { loadSource } from './load-source.mjs';

const [{ auditChanges }, { warmUp }] = await loadSource('audit/audit.ts', 'audit/warm-up.ts');

const [changes = '1000', files = '30000', cold] = process.argv.slice(2);
const line = (/** @type {number} */ n) => `export const value${n} = compute(${n}, 'text ${n}', { option: true });\n`;
const text = (/** @type {number} */ from) => Array.from({ length: 150 }, (_, n) => line(from + n)).join('');
const names = Array.from({ length: Number(files) }, (_, n) => `src/module${n % 300}/part${n % 7}/file${n}.ts`);
/** @type {Map<string, Buffer>} */
const contents = new Map();
const put = (/** @type {string} */ digest, /** @type {string} */ content) => {
  contents.set(digest, Buffer.from(content));
  return { kind: 'file', mode: 0o644, size: content.length, mtimeNs: '1', digest };
};
/** A quarter is new, the rest has every line changed. @param {string} path @param {number} n */
function change(path, n) {
  if (n % 4 === 0) return { path: path.replace('file', 'new'), kind: 'created', after: put(`b${n}`, text(n)) };
  const after = text(n).replaceAll('text', 'word') + line(n);
  return { path, kind: 'modified', before: put(`a${n}`, text(n)), after: put(`b${n}`, after) };
}
let reads = 0;
const input = {
  changes: names.slice(0, Number(changes)).map(change),
  content: (/** @type {string} */ digest) => {
    const bytes = contents.get(digest);
    reads += 1;
    createHash('sha256')
      .update(bytes ?? '')
      .digest();
    return bytes;
  },
  base: { paths: names, read: () => undefined },
};
const block = Buffer.alloc(64 << 20);
/** @param {() => void} work */
function cpuMs(work) {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
if (cold === undefined) {
  let longest = 0;
  let last = performance.now();
  const cpu = cpuMs(() => {
    for (const _ of warmUp(input.base)) {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }
  });
  console.log(`warmed up in ${Math.round(cpu)} ms of processor time, the longest piece ${Math.round(longest)} ms`);
}
const runs = [];
for (let round = 0; round < 6; round += 1) {
  reads = 0;
  let findings = 0;
  const start = performance.now();
  const cpu = cpuMs(() => {
    findings = auditChanges(input).length;
  });
  const wall = performance.now() - start;
  const known = cpuMs(() => createHash('sha256').update(block).digest());
  runs.push({ wall, cpu, ratio: cpu / known });
  if (round === 0)
    console.log(`${input.changes.length} changes in ${names.length} files: ${findings} findings, ${reads} reads`);
}
const [first, ...rest] = runs;
const median = (/** @type {'wall' | 'cpu' | 'ratio'} */ key) =>
  rest.map((run) => run[key]).sort((a, b) => a - b)[2] ?? 0;
console.log(
  `first ${Math.round(first?.wall ?? 0)} ms, ${Math.round(first?.cpu ?? 0)} ms of processor time; then ` +
    `${Math.round(median('wall'))} ms, ${Math.round(median('cpu'))} ms of processor time, ` +
    `${median('ratio').toFixed(2)} times the known loop`,
);
