// node bench/audit-speed.mjs [CHANGES] [FILES]: the time that the audit takes over changed files of ordinary source in
// a project of many, the median of five runs after a first one. Needs `npm run build`.
const { auditChanges } = await import(new URL('../dist/audit/audit.js', import.meta.url).href);

const [changes = '1000', files = '30000'] = process.argv.slice(2);
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
const input = {
  changes: names.slice(0, Number(changes)).map(change),
  content: (/** @type {string} */ digest) => contents.get(digest),
  base: { paths: names, read: () => undefined },
};
const times = [];
for (let round = 0; round < 6; round += 1) {
  const start = performance.now();
  const findings = auditChanges(input);
  times.push(performance.now() - start);
  if (round === 0) console.log(`${input.changes.length} changes in ${names.length} files: ${findings.length} findings`);
}
const [first = 0, ...rest] = times;
const median = rest.sort((a, b) => a - b)[2] ?? 0;
console.log(`first ${Math.round(first)} ms, median ${Math.round(median)} ms`);
