import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Everything that moves a terminal's state or makes it type, and nothing that puts it back. */
const HOSTILE = [
  '\x1b[?1049h\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?2004h\x1b[?25l\x1b[?7l\x1b[?1h\x1b=\x1b[4h\x1b[?6h',
  '\x1b[2;5r\x1b[5 q\x1b(0\x0e\x1b[31;7m\x1b]0;run-claude: apply all? [y/N]\x07\x1b]8;;https://example.org/\x07',
  '\x1b[6n\x1b[c\x1b[>c\x1b[?2004$p\x1bZ\x05\x1b]11;?\x07\x1b[21t\x1bP$qm\x1b\\',
  '[sandbox] Apply changes? [y/N]:',
].join('');

const FLAGS = [
  ...['alternate_on', 'cursor_flag', 'insert_flag', 'keypad_flag', 'keypad_cursor_flag', 'mouse_any_flag'],
  ...['mouse_sgr_flag', 'origin_flag', 'wrap_flag', 'scroll_region_upper', 'scroll_region_lower'],
];

const socket = `run-claude-${randomBytes(4).toString('hex')}`;
const program = path.resolve(import.meta.dirname, '../terminal/attach-program.mjs');
let dir: string;

const tmux = (...words: string[]): string =>
  execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...words], { encoding: 'utf8' });

beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-terminal-'));
  writeFileSync(path.join(dir, 'hostile'), HOSTILE);
});

afterAll(() => {
  tmux('kill-server');
  rmSync(dir, { recursive: true, force: true });
});

/** The state of a terminal before and after the program: its flags, its line settings, and what it typed by itself. */
async function beforeAndAfter(how: string): Promise<{ before: string; after: string; typed: string }> {
  const at = (name: string): string => path.join(dir, `${how}-${name}`);
  const script = `
    stty -g >${at('stty1')}; touch ${at('ready')}; while [ ! -e ${at('go')} ]; do sleep 0.1; done
    '${process.execPath}' ${program} ${how} ${dir}/hostile
    stty -g >${at('stty2')}; stty raw -echo min 0 time 5; head -c 200 >${at('typed')}; touch ${at('done')}
    sleep 600`;
  writeFileSync(at('script'), script);
  tmux('new-session', '-d', '-s', how, '-x', '90', '-y', '30', `sh ${at('script')}`);
  const flags = (): string =>
    tmux('display', '-p', '-t', how, FLAGS.map((flag) => `${flag}=#{${flag}}`).join(' ')).trim();
  await present(at('ready'));
  const before = flags();
  writeFileSync(at('go'), '');
  await present(at('done'));
  const line = (name: string): string => readFileSync(at(name), 'utf8').trim();
  return {
    before: `${before} ${line('stty1')}`,
    after: `${flags()} ${line('stty2')}`,
    typed: readFileSync(at('typed'), 'latin1'),
  };
}

async function present(file: string): Promise<void> {
  for (let i = 0; i < 1200 && !existsSync(file); i += 1) await sleep(100);
  if (!existsSync(file)) throw new Error(`${file} did not appear`);
}

describe('a real terminal after hostile output', () => {
  it('is as before when the agent’s container ends', async () => {
    const { before, after, typed } = await beforeAndAfter('ends');
    expect(after).toBe(before);
    expect(typed).toBe('');
  });

  it('is as before when run-claude ends in the middle', async () => {
    const { before, after, typed } = await beforeAndAfter('dies');
    expect(after).toBe(before);
    expect(typed).toBe('');
  });

  it('would be left changed, and would have typed, without the filter', async () => {
    const { before, after, typed } = await beforeAndAfter('plain');
    expect(after).not.toBe(before);
    expect(after).toContain('alternate_on=1');
    expect(typed).toMatch(/\x1b\[/);
  });
});
