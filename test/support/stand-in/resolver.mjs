// A resolver for one network namespace, and the servers that its answers lead to: node resolver.mjs STATE. STATE is a
// JSON file, read again for each query: { mode, names: { name: { A: [], AAAA: [], CNAME: '' } } }; of `A` as a list of
// lists one list is given at each query, in turn. Modes: answer, refuse (nobody listens), silent, servfail, garbage.
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import net from 'node:net';
import process from 'node:process';

const [state = ''] = process.argv.slice(2);
const read = () => JSON.parse(readFileSync(state, 'utf8'));
const TYPES = /** @type {Record<number, string>} */ ({ 1: 'A', 5: 'CNAME', 28: 'AAAA' });
/** @type {Map<string, number>} */
const turns = new Map();

/** @param {string} name */
const encoded = (name) =>
  Buffer.concat([...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])), Buffer.of(0)]);

/** @param {string} address */
function bytesOf(address) {
  if (net.isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = '', tail] = plain.split('::');
  const before = head.split(':').filter(Boolean);
  const after = (tail ?? '').split(':').filter(Boolean);
  const groups = [...before, ...Array(8 - before.length - after.length).fill('0'), ...after];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

/** @param {string} name @param {number} type @param {Buffer} data */
function record(name, type, data) {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([encoded(name), fixed, data]);
}

/** @param {Buffer} query @returns {Buffer | undefined} */
function answerTo(query) {
  const { mode, names } = read();
  if (mode === 'silent') return undefined;
  if (mode === 'garbage') return Buffer.concat([query.subarray(0, 2), Buffer.from('no answer at all'.repeat(20))]);
  let at = 12;
  const labels = [];
  for (let size = query[at] ?? 0; size > 0; size = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + size));
    at += size + 1;
  }
  const type = query.readUInt16BE(at + 1);
  const question = query.subarray(12, at + 5);
  const name = labels.join('.').toLowerCase();
  const found = mode === 'servfail' ? undefined : names[name];
  const key = `${name} ${type}`;
  let owner = name;
  const records = [];
  if (typeof found?.CNAME === 'string') {
    records.push(record(name, 5, encoded(found.CNAME)));
    owner = found.CNAME;
  }
  const listed = names[owner]?.[TYPES[type] ?? ''] ?? [];
  const turn = turns.get(key) ?? 0;
  turns.set(key, turn + 1);
  const addresses = Array.isArray(listed[0]) ? listed[turn % listed.length] : listed;
  if (found !== undefined) for (const one of addresses) records.push(record(owner, type, bytesOf(one)));
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | (mode === 'servfail' ? 2 : found === undefined ? 3 : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  return Buffer.concat([head, question, ...records]);
}

for (const [host, text] of [
  ['127.0.0.2', 'good'],
  ['127.0.0.1', 'canary'],
  ['::1', 'canary'],
])
  createServer((_request, response) => response.end(text)).listen(80, host);

/** @type {import('node:dgram').Socket | undefined} */
let socket;
setInterval(() => {
  const wanted = read().mode !== 'refuse';
  if (wanted === (socket !== undefined)) return;
  if (socket !== undefined) {
    socket.close();
    socket = undefined;
    return;
  }
  const made = createSocket('udp4');
  made.on('message', (query, from) => {
    const answer = answerTo(query);
    if (answer !== undefined) made.send(answer, from.port, from.address);
  });
  made.bind(53, '127.0.0.1');
  socket = made;
}, 20);
