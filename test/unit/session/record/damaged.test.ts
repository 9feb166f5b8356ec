import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../../../src/cli/main.ts';
import { sessionRecord } from '../../../support/session-record.ts';
import { treeFacts } from '../../../support/tree-facts.ts';

// Every command on a session whose files are damaged ends in a clear refusal, and changes neither the project nor what
// is left of the session.

const ID = '261121-140512-k7p';
const COMMANDS = [
  ['apply', ID, '--yes'],
  ['resume', ID],
  ['diff', ID],
  ['status', ID],
  ['undo', ID, '--yes'],
  ['explore', ID],
];
/** All that docs/reference/exit-statuses.md has for run-claude itself. */
const DOCUMENTED = [0, 2, 120, 121, 122, 125];

let root: string;
let printed: string;
const inSession = (name: string): string => path.join(root, 'run-claude/sessions', ID, name);
const project = (): string => path.join(root, 'project');

beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-damaged-')));
  mkdirSync(project());
  writeFileSync(path.join(project(), 'mine'), 'mine');
  mkdirSync(inSession('layer/upper'), { recursive: true });
  const content = 'from the session';
  const digest = createHash('sha256').update(content).digest('hex');
  mkdirSync(inSession(`store/${digest.slice(0, 2)}`), { recursive: true });
  writeFileSync(inSession(`store/${digest.slice(0, 2)}/${digest}`), content);
  const generation = path.join(root, 'run-claude/bases/one/gen/1');
  mkdirSync(generation, { recursive: true });
  writeFileSync(path.join(generation, 'manifest'), '');
  const rules = { exclude: [], include: [], mask: [] };
  const record = sessionRecord({
    workspace: { version: 1, strategy: 'layers', generation, entries: 1, rules },
    plan: {
      sessionId: ID,
      sessionDir: path.join(root, 'run-claude/sessions', ID),
      baseDir: path.join(root, 'run-claude/bases/one'),
      project: { root: project(), ownerUid: process.getuid?.() ?? 0, ownerGid: process.getgid?.() ?? 0 },
    },
  });
  const after = { kind: 'file', mode: 0o644, size: content.length, mtimeNs: '1', digest };
  const manifest = {
    version: 1,
    changes: [{ path: 'new', kind: 'created', after }],
    problems: [],
    withheld: [],
    baseEntries: 1,
    findings: [],
  };
  writeFileSync(inSession('session.json'), JSON.stringify(record));
  writeFileSync(inSession('manifest'), JSON.stringify(manifest));
  for (const name of ['XDG_STATE_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_CONFIG_HOME']) vi.stubEnv(name, root);
  // No engine answers: nothing of a damaged record is started.
  vi.stubEnv('DOCKER_HOST', `unix://${root}/none.sock`);
  printed = '';
  for (const stream of [process.stderr, process.stdout]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      printed += String(text);
      return true;
    });
  }
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

/** Runs the commands on a session that is damaged anew for each, and checks what all of them promise. */
async function expectRefusals(what: string, damage: () => void, commands = COMMANDS): Promise<number[]> {
  const whole = path.join(root, 'whole');
  if (!existsSync(whole)) cpSync(inSession('.'), whole, { recursive: true });
  const statuses: number[] = [];
  for (const words of commands) {
    rmSync(inSession('.'), { recursive: true });
    cpSync(whole, inSession('.'), { recursive: true });
    damage();
    rmSync(path.join(project(), 'new'), { force: true });
    printed = '';
    const status = await main(words);
    const where = `${words[0]} with ${what}: ${printed}`;
    expect(DOCUMENTED, where).toContain(status);
    expect(printed, where).not.toMatch(/a bug in run-claude|\n\s+at |undefined|\[object/);
    if (status === 125) expect(printed, where).toMatch(/ERROR [A-Z_]+: .+\n.+\S/);
    expect(readFileSync(path.join(project(), 'mine'), 'utf8'), where).toBe('mine');
    expect(
      [...treeFacts(project()).keys()].filter((name) => !['.', 'mine', 'new'].includes(name)),
      where,
    ).toEqual([]);
    expect([...treeFacts(root).keys()].filter((name) => /^[^/]*$/.test(name)).sort(), where).toEqual(
      ['.', 'elsewhere', 'project', 'run-claude', 'whole'].filter((name) => existsSync(path.join(root, name))),
    );
    statuses.push(status);
  }
  return statuses;
}

it('the whole session is applied', async () => {
  expect(await main(['apply', ID, '--yes'])).toBe(0);
  expect(readFileSync(path.join(project(), 'new'), 'utf8')).toBe('from the session');
});

describe.each(['session.json', 'manifest'])('%s', (file) => {
  it('cut off', async () => {
    const { length } = readFileSync(inSession(file));
    for (const at of [0, 1, Math.floor(length / 2), length - 1]) {
      const statuses = await expectRefusals(`${file} of ${at} bytes`, () => truncateSync(inSession(file), at));
      expect(statuses.slice(0, file === 'manifest' ? 1 : 3)).toEqual(file === 'manifest' ? [125] : [125, 125, 125]);
    }
  });

  it.each([
    ['absent', (one: string) => rmSync(one)],
    ['not JSON', (one: string) => writeFileSync(one, Buffer.from([0xff, 0x00, 0x7b]))],
    ['a list', (one: string) => writeFileSync(one, '[]')],
    [
      'a directory',
      (one: string) => {
        rmSync(one);
        mkdirSync(one);
      },
    ],
    [
      'a dangling link',
      (one: string) => {
        rmSync(one);
        symlinkSync('nowhere', one);
      },
    ],
  ])('%s', async (what, damage) => {
    const [apply] = await expectRefusals(`${file} ${what}`, () => damage(inSession(file)));
    expect(apply).toBe(125);
  });

  it('with a field of another kind', async () => {
    const parsed = JSON.parse(readFileSync(inSession(file), 'utf8'));
    const values = [null, '../..', 7, [], {}];
    for (const [index, keys] of fieldsOf(parsed).entries()) {
      const value = values[index % values.length];
      const words = COMMANDS[index % 3] as string[];
      const damaged = JSON.stringify(replaced(parsed, keys, value));
      const what = `${keys.join('.')} = ${JSON.stringify(value)}`;
      await expectRefusals(what, () => writeFileSync(inSession(file), damaged), [words]);
    }
    // A command for each of some hundred fields: 4 s alone, and a multiple on a machine under load.
  }, 120_000);
});

it.each([
  ['another session', { plan: { sessionDir: '/tmp/another' } }],
  ['another id', { id: '261121-140512-aaa' }],
  ['another project', { project: '/' }],
])('a record that is of %s is refused', async (what, fields) => {
  const parsed = JSON.parse(readFileSync(inSession('session.json'), 'utf8'));
  const damaged = JSON.stringify({
    ...parsed,
    ...fields,
    plan: { ...parsed.plan, ...('plan' in fields ? fields.plan : {}) },
  });
  const statuses = await expectRefusals(what, () => writeFileSync(inSession('session.json'), damaged));
  expect(new Set(statuses)).toEqual(new Set([125]));
});

describe('the layer', () => {
  it.each([
    ['missing', () => rmSync(inSession('layer'), { recursive: true })],
    [
      'a link',
      () => {
        rmSync(inSession('layer'), { recursive: true });
        mkdirSync(path.join(root, 'elsewhere/work/work'), { recursive: true });
        symlinkSync(path.join(root, 'elsewhere'), inSession('layer'));
      },
    ],
    [
      'a file',
      () => {
        rmSync(inSession('layer'), { recursive: true });
        writeFileSync(inSession('layer'), '');
      },
    ],
  ])(
    '%s: resume is refused, apply goes by what was frozen, and discard leaves other places alone',
    async (what, damage) => {
      const commands = [
        ['apply', ID, '--yes'],
        ['resume', ID],
        ['discard', ID, '--yes'],
      ];
      const [apply, resume, discard] = await expectRefusals(what, damage, commands);
      expect([apply, resume, discard]).toEqual([0, 125, 0]);
      if (what === 'a link') expect(existsSync(path.join(root, 'elsewhere/work/work'))).toBe(true);
    },
  );
});

describe('the store', () => {
  const content = (): string => {
    const digest = createHash('sha256').update('from the session').digest('hex');
    return inSession(`store/${digest.slice(0, 2)}/${digest}`);
  };
  it.each([
    ['without the content', () => rmSync(content())],
    ['with content that was cut off', () => truncateSync(content(), 3)],
    ['with other content', () => writeFileSync(content(), 'From the session')],
    [
      'with a link to a file',
      () => {
        rmSync(content());
        symlinkSync(path.join(project(), 'mine'), content());
      },
    ],
    ['missing', () => rmSync(inSession('store'), { recursive: true })],
  ])('%s: nothing is applied', async (what, damage) => {
    const [apply] = await expectRefusals(`the store ${what}`, damage, [['apply', ID, '--yes']]);
    expect(apply).not.toBe(0);
    expect(existsSync(path.join(project(), 'new'))).toBe(false);
  });
});

/** The keys of every field, three levels deep, and of the first element of each list. */
function fieldsOf(value: unknown, depth = 0): string[][] {
  if (typeof value !== 'object' || value === null || depth === 4) return [];
  const entries = Array.isArray(value) ? Object.entries(value).slice(0, 1) : Object.entries(value);
  return entries.flatMap(([key, inner]) => [[key], ...fieldsOf(inner, depth + 1).map((rest) => [key, ...rest])]);
}

function replaced(value: unknown, [key = '', ...rest]: readonly string[], to: unknown): unknown {
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[key] = rest.length === 0 ? to : replaced(copy[key], rest, to);
  return copy;
}
