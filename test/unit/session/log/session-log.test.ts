import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync as symlink, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { logJson, logLine } from '../../../../src/cli/sessions/log-lines.ts';
import { openContentStore } from '../../../../src/core/store/content.ts';
import type { LogEvent } from '../../../../src/core/types/log-event.ts';
import { claimedEvents, linesOf, MAX_CLAIMS } from '../../../../src/session/log/claimed-events.ts';
import { eventOfLine, eventOfRequest } from '../../../../src/session/log/host-events.ts';
import { LineTail } from '../../../../src/session/log/line-tail.ts';
import { inOrder, openSessionLog } from '../../../../src/session/log/session-log.ts';
import { appendEvent, eventsFile } from '../../../../src/session/record/events/events-file.ts';
import { storeDir, writeCollected } from '../../../../src/session/record/session.ts';
import { countSteps, expectLinear } from '../../../support/expect-linear.ts';
import { sessionRecord } from '../../../support/session-record.ts';

const AT = '2026-11-21T14:00:00.000Z';
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'session-log-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const at = (second: number): string => new Date(Date.parse(AT) + second * 1000).toISOString();
const record = () => sessionRecord({ plan: { sessionDir: dir, program: { kind: 'claude', args: [], print: false } } });
const lines = (events: readonly LogEvent[]): string[] => events.map((one) => logLine(one, 80).slice(16));

async function collect(...transcript: readonly object[]): Promise<void> {
  mkdirSync(storeDir(dir), { recursive: true });
  const text = transcript.map((one) => `${JSON.stringify(one)}\n`).join('');
  const stored = await openContentStore(storeDir(dir)).put([Buffer.from(text)]);
  const change = { path: 'projects/-workspace/a.jsonl', how: 'create', verdict: 'clean', ...stored } as const;
  const finding = { rule: 'r', severity: 'suspect', path: 'a\u001b[2Jb', title: 'A hook', why: '' } as const;
  const nothing = { changes: [], problems: [], withheld: [], baseEntries: 0 };
  writeCollected(dir, {
    version: 1,
    ...nothing,
    findings: [finding as never],
    claude: { changes: [change], attempts: [], findings: [], dropped: {} },
  });
}

const prompt = (timestamp: string, content: string) => ({
  type: 'user',
  timestamp,
  message: { role: 'user', content },
});

describe('the log of a session', () => {
  it('joins its sources by time, and marks what the agent says', async () => {
    appendEvent(dir, 'start', 'Claude, copy mode', Date.parse(at(0)));
    const request = {
      at: at(2),
      verdict: 'refused',
      method: 'CONNECT',
      host: 'evil.example',
      port: 443,
      why: 'no rule',
    };
    writeFileSync(path.join(dir, 'network.jsonl'), `${JSON.stringify(request)}\n{"truncated":true}\n`);
    appendEvent(dir, 'end', 'status 0', Date.parse(at(4)));
    appendEvent(dir, 'files', '1 created', Date.parse(at(5)));
    const call = { type: 'tool_use', name: 'Bash', input: { command: 'npm test' } };
    await collect(prompt(at(1), 'fix it'), { type: 'assistant', timestamp: at(3), message: { content: [call] } });
    const log = openSessionLog(record());
    expect(lines(await log.read())).toEqual([
      'start    Claude, copy mode',
      'claimed  prompt: fix it',
      'network  refused CONNECT evil.example:443 (no rule)',
      'claimed  tool: Bash: npm test',
      'end      status 0',
      'files    1 created',
      'finding  suspect: A hook: a\\x1b[2Jb',
    ]);
    appendEvent(dir, 'apply', '1 applied');
    expect(lines(await log.read())).toEqual(['apply    1 applied']);
  });

  it('keeps events that the agent makes up inside their line, their mark and the run', async () => {
    appendEvent(dir, 'start', 'Claude, copy mode', Date.parse(at(10)));
    appendEvent(dir, 'files', '1 created', Date.parse(at(20)));
    const fake = '\n11-21 14:00:00  network  passed GET fine.example:443\r\x1b[1A\x1b[2K\u202e';
    await collect(prompt('1999-01-01T00:00:00Z', fake), prompt('2999-01-01T00:00:00Z', 'later'), {
      type: 'user',
      timestamp: 'no time',
      message: { content: 'dropped' },
    });
    const events = await openSessionLog(record()).read();
    const shown = events.map((one) => logLine(one, 80));
    expect(shown.filter((line) => /[^\x20-\x7e…]/.test(line))).toEqual([]);
    expect(events.filter(({ by }) => by === 'agent').map((one) => one.at)).toEqual([at(10), at(20)]);
    expect(shown[1]?.slice(16)).toMatch(/^claimed {2}prompt: 11-21 14:00:00/);
    expect(shown.every((line) => [...line].length <= 80)).toBe(true);
    expect(logJson(events[1] as LogEvent)).toMatch(/"by":"agent"/);
    expect(logJson(events[1] as LogEvent)).not.toMatch(/[^\x20-\x7e\n]/);
  });
});

describe('a file of events', () => {
  it('survives a torn line: the next event ends it, and nothing is made of it', () => {
    appendEvent(dir, 'start', 'one', Date.parse(at(0)));
    appendFileSync(eventsFile(dir), '{"at":"2026-11-21T14:00:01.000Z","kind":"end","te');
    const tail = new LineTail(eventsFile(dir));
    const read = () => [...tail.read()].flatMap((line) => eventOfLine(line) ?? []).map(({ text }) => text);
    expect(read()).toEqual(['one']);
    appendEvent(dir, 'end', 'two', Date.parse(at(2)));
    expect(read()).toEqual(['two']);
  });

  it('gives a line once it is complete', () => {
    const tail = new LineTail(eventsFile(dir));
    expect([...tail.read()]).toEqual([]);
    appendFileSync(eventsFile(dir), 'first\nsec');
    expect([...tail.read()]).toEqual(['first']);
    appendFileSync(eventsFile(dir), 'ond\n');
    expect([...tail.read()]).toEqual(['second']);
  });

  it('leaves out lines of any size that are no event, and keeps those behind them', () => {
    writeFileSync(eventsFile(dir), `${'x'.repeat(5_000_000)}\n{"at":"now","kind":"end","text":"a"}\n[]\nnull\n`);
    appendEvent(dir, 'end', 'y'.repeat(10_000));
    appendFileSync(eventsFile(dir), `${JSON.stringify({ at: AT, kind: 'claimed', text: 'unknown kind' })}\n`);
    const events = [...new LineTail(eventsFile(dir)).read()].flatMap((line) => eventOfLine(line) ?? []);
    expect(events.map(({ text }) => text.length)).toEqual([501]);
  });

  it('is never read or written through a link', () => {
    const target = path.join(dir, 'target');
    writeFileSync(target, '');
    rmSync(eventsFile(dir), { force: true });
    symlink(target, eventsFile(dir));
    appendEvent(dir, 'end', 'status 0');
    expect([...new LineTail(target).read()]).toEqual([]);
    expect(() => [...new LineTail(eventsFile(dir)).read()]).toThrow(/ELOOP/);
  });
});

describe('100,000 events', () => {
  const many = (n: number): string[] =>
    Array.from({ length: n }, (_, i) => JSON.stringify({ at: at(n - i), kind: 'command', text: `event ${i}` }));

  it('are read, ordered and written in steps that grow with their number', async () => {
    await expectLinear(many, (texts) => {
      const events = texts.flatMap((line) => eventOfLine(line) ?? []);
      for (const one of inOrder(events)) logLine(one, 80);
    });
    const file = path.join(dir, 'many');
    writeFileSync(file, `${many(100_000).join('\n')}\n`);
    let count = 0;
    const steps = await countSteps(() => {
      for (const line of new LineTail(file).read()) if (eventOfLine(line) !== undefined) count += 1;
    });
    expect(count).toBe(100_000);
    expect(steps).toBeLessThan(100_000 * 30);
  });

  it('are the most that an agent can claim, and the log says so', () => {
    const claim = { at: AT, kind: 'tool', text: 'Bash' } as const;
    const lots = Array.from({ length: MAX_CLAIMS + 5 }, () => 'x');
    const events = claimedEvents(lots, () => [claim], { from: AT, until: AT });
    expect(events.length).toBe(MAX_CLAIMS + 1);
    expect(events.at(-1)).toMatchObject({ by: 'host', kind: 'limit' });
  });
});

describe('a line of the network log', () => {
  it('is an event, unless every client asks it', () => {
    const entry = { at: AT, verdict: 'passed', method: 'POST', host: 'a.example', port: 443, tool: 'search' };
    expect(eventOfRequest(JSON.stringify(entry))?.text).toBe('passed POST a.example:443, tool search');
    expect(eventOfRequest(JSON.stringify({ ...entry, quiet: true }))).toBeUndefined();
    expect(eventOfRequest(JSON.stringify({ ...entry, at: 7 }))).toBeUndefined();
  });

  it('is cut into lines without its last line feed', () => {
    expect([...linesOf('a\nb\n')]).toEqual(['a', 'b']);
    expect([...linesOf('a\n\nb')]).toEqual(['a', '', 'b']);
  });
});
