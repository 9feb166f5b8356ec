import { execFileSync, spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { speakToCollector } from '../../../../src/workspace/collector/client.ts';
import {
  encodeRequest,
  type Field,
  type Frame,
  FrameCutter,
  PayloadReader,
  readEntry,
} from '../../../../src/workspace/collector/wire.ts';
import { compileCollector } from '../../../support/collector-program.ts';
import { repeatHint, seed } from '../../../support/seed.ts';

let dir: string;
let tree: string;

beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-fuzz-'));
  tree = path.join(dir, 'tree');
  mkdirSync(path.join(tree, 'kinds/sub/deeper'), { recursive: true });
  writeFileSync(path.join(tree, 'kinds/file'), 'content');
  linkSync(path.join(tree, 'kinds/file'), path.join(tree, 'kinds/hard'));
  symlinkSync('/etc', path.join(tree, 'kinds/link'));
  writeFileSync(path.join(tree, 'kinds/holes'), '');
  truncateSync(path.join(tree, 'kinds/holes'), 300_000);
  execFileSync('mkfifo', [path.join(tree, 'kinds/fifo')]);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const REQUESTS: readonly (readonly [string, readonly Field[]])[] = [
  ['H', []],
  ['L', [{ text: 'tree' }, { u8: 1 }, { u64: 1000 }, { text: '' }]],
  ['L', [{ text: 'tree' }, { u8: 0 }, { u64: 3 }, { text: 'kinds' }]],
  ['R', [{ text: 'tree' }, { u64: 1e6 }, { text: 'kinds/file' }]],
  ['R', [{ text: 'tree' }, { u64: 1e6 }, { text: 'kinds/holes' }]],
  ['R', [{ text: 'tree' }, { u64: 1e6 }, { text: 'kinds/fifo' }]],
  ['S', [{ text: 'tree' }, { text: 'kinds/link' }]],
  ['S', [{ text: 'tree' }, { text: 'kinds/none/below' }]],
  ['F', [{ text: 'tree' }]],
];
const request = (at: number): Buffer => {
  const [op, fields] = REQUESTS[at % REQUESTS.length] as (typeof REQUESTS)[number];
  return encodeRequest(at + 1, op, fields);
};

/** Bytes set, taken out and put in. */
interface Mutation {
  readonly what: 'set' | 'flip' | 'cut' | 'insert' | 'grow';
  readonly at: number;
  readonly value: number;
}
const mutations = fc.array(
  fc.record<Mutation>({
    what: fc.constantFrom('set', 'flip', 'cut', 'insert', 'grow'),
    at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    value: fc.nat(255),
  }),
  { minLength: 1, maxLength: 4 },
);

function mutated(bytes: Buffer, list: readonly Mutation[]): Buffer {
  let now = Buffer.from(bytes);
  for (const { what, at, value } of list) {
    const place = Math.floor(at * now.length);
    if (now.length === 0) return now;
    if (what === 'set') now[place] = value;
    if (what === 'flip') now[place] = (now[place] as number) ^ (1 << (value % 8));
    if (what === 'cut') now = Buffer.concat([now.subarray(0, place), now.subarray(place + 1 + (value % 8))]);
    if (what === 'insert')
      now = Buffer.concat([now.subarray(0, place), Buffer.alloc(value % 9, value), now.subarray(place)]);
    if (what === 'grow' && place + 4 <= now.length) now.writeUInt32LE(value * 16_843_009, place);
  }
  return now;
}

/** The same frame with another payload, its length right: so that what is inside is reached. */
function framed(id: number, kind: string, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUInt32LE(payload.length + 5, 0);
  head.writeUInt32LE(id, 4);
  head[8] = kind.charCodeAt(0);
  return Buffer.concat([head, payload]);
}

/** What the collector answers to all of the requests. */
function recorded(): Frame[] {
  const input = Buffer.concat(REQUESTS.map((_, at) => request(at)));
  const { stdout, status } = spawnSync(compileCollector(), [`tree=${tree}`], { input });
  expect(status).toBe(0);
  return new FrameCutter().push(stdout);
}

function parse({ kind, payload }: Frame): void {
  const from = new PayloadReader(payload);
  if (kind === 'E' || kind === 'S')
    while (!from.done) expect(readEntry(from).path).not.toMatch(/^\/|\0|(^|\/)\.\.?(\/|$)/);
  if (kind === 'X') from.u64();
  if (kind === 'Z') from.size();
  if (kind === 'F') for (let i = 0; i < 5; i++) from.size();
}

describe('damaged answers', () => {
  it('are parsed or refused (10,000 answers)', () => {
    const frames = recorded();
    expect(new Set(frames.map(({ kind }) => kind))).toEqual(new Set('HEXDZ!SNF'));
    let refused = 0;
    for (const [at, list] of fc.sample(mutations, { numRuns: 10_000, seed }).entries()) {
      const { id, kind, payload } = frames[at % frames.length] as Frame;
      const whole = framed(id, kind, payload);
      const bytes = at % 4 === 0 ? mutated(whole, list) : framed(id, kind, mutated(payload, list));
      try {
        for (const frame of new FrameCutter().push(bytes)) parse(frame);
      } catch (error) {
        expect(error, repeatHint).toMatchObject({ code: 'COLLECTOR_PROTOCOL' });
        refused += 1;
      }
    }
    // Neither all nor none: the parser was reached.
    expect(refused).toBeGreaterThan(500);
    expect(refused).toBeLessThan(9500);
  });

  it('end the request, with a reason', async () => {
    const frames = recorded();
    const hello = framed(1, 'H', frames[0]?.payload as Buffer);
    const listed = frames.filter(({ id }) => id === 2);
    for (const list of fc.sample(mutations, { numRuns: 1000, seed })) {
      const [stdin, stdout] = [new PassThrough(), new PassThrough()];
      stdout.write(hello);
      const collector = await speakToCollector({ stdin, stdout });
      const entries = collector.list('tree');
      const first = entries[Symbol.asyncIterator]().next();
      const answer = Buffer.concat(listed.map(({ kind, payload }) => framed(2, kind, payload)));
      stdout.end(mutated(answer, list));
      try {
        await first;
        for await (const { path: one } of entries) expect(one).not.toMatch(/^\/|\0/);
      } catch (error) {
        expect((error as { code?: string }).code, repeatHint).toMatch(/^COLLECTOR_(PROTOCOL|LOST|READ|TOO_MANY)$/);
      }
      collector.close();
    }
  });
});

it('damaged requests cause no invalid memory access', () => {
  const program = compileCollector('sanitized');
  const env = { ASAN_OPTIONS: 'exitcode=99', UBSAN_OPTIONS: 'exitcode=99' };
  const lists = fc.sample(mutations, { numRuns: 10_000, seed });
  const ends = new Map<number | null, number>();
  for (let at = 0; at < lists.length; ) {
    // What is in a payload may end the process; what follows is for the next one.
    const batch = lists.slice(at, at + 100).map((list, index) => {
      const whole = request(index);
      if (index === 99) return mutated(whole, list);
      const name = mutated(Buffer.from('kinds/sub/../file'), list).toString('latin1').replaceAll('\0', '');
      const max = list[0]?.value ?? 0;
      const text = { text: name.slice(0, index % 3 === 0 ? 5 : 4000) };
      const [op] = REQUESTS[index % REQUESTS.length] as (typeof REQUESTS)[number];
      if (op === 'L') return encodeRequest(index, op, [{ text: 'tree' }, { u8: max % 2 }, { u64: max }, text]);
      if (op === 'R') return encodeRequest(index, op, [{ text: 'tree' }, { u64: max * 1000 }, text]);
      return encodeRequest(index, op, [{ text: 'tree' }, text]);
    });
    at += batch.length;
    const { status, stderr } = spawnSync(program, [`tree=${tree}`], {
      input: Buffer.concat(batch),
      env,
      timeout: 120_000,
    });
    expect(stderr.toString(), repeatHint).not.toMatch(/Sanitizer|runtime error/);
    ends.set(status, (ends.get(status) ?? 0) + 1);
  }
  // At the end of its input, or refused.
  expect(
    [...ends.keys()].filter((status) => status !== 0 && status !== 2),
    repeatHint,
  ).toEqual([]);
  for (const list of lists.slice(0, 200)) {
    const whole = mutated(Buffer.concat(REQUESTS.map((_, index) => request(index))), list);
    const { status, stderr } = spawnSync(program, [`tree=${tree}`], { input: whole, env, timeout: 120_000 });
    expect(stderr.toString(), repeatHint).not.toMatch(/Sanitizer|runtime error/);
    expect([0, 2], repeatHint).toContain(status);
  }
});
