import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyClaude } from '../../../../../src/agents/claude/back/apply.ts';
import { backRule } from '../../../../../src/agents/claude/back/back-rules.ts';
import { collectClaude } from '../../../../../src/agents/claude/back/collect.ts';
import { type StagedClaude, stageClaude } from '../../../../../src/agents/claude/stage/stage.ts';
import { openContentStore } from '../../../../../src/core/store/content.ts';
import type { ClaudeData, ClaudeOutcome } from '../../../../../src/core/types/agent/claude-data.ts';
import { homeReader } from '../../../../support/home-reader.ts';

const ID = '11111111-2222-4333-8444-555555555555';
let top = '';
const at = (...parts: string[]): string => join(top, ...parts);

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'rc-back-'));
  for (const dir of ['home/.claude', 'project']) mkdirSync(at(dir), { recursive: true });
});
afterEach(() => rmSync(top, { recursive: true }));

/** A session's home as the engine would have filled it. */
async function start(
  name: string,
): Promise<{ staged: StagedClaude; dir: string; write: (path: string, text: string) => void }> {
  const staged = await stageClaude({
    env: { PATH: process.env['PATH'], HOME: at('home') },
    home: at('home'),
    configDir: at('home/.claude'),
    ownConfigDir: at('config'),
    dataDir: at('data'),
    projectRoot: at('project'),
    gitCommonDir: undefined,
    permissions: 'skip',
  });
  const dir = at(name);
  mkdirSync(dir);
  for (const entry of staged.entries)
    if (entry.content === 'directory') mkdirSync(join(dir, entry.path));
    else if (entry.content instanceof Uint8Array) writeFileSync(join(dir, entry.path), entry.content);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, '.claude', path)), { recursive: true });
    writeFileSync(join(dir, '.claude', path), text);
  };
  return { staged, dir, write };
}

async function end(
  session: { staged: StagedClaude; dir: string },
  more: { syncBack?: boolean; secrets?: string[] } = {},
): Promise<ClaudeData> {
  return collectClaude({
    reader: homeReader(session.dir),
    root: 'home',
    baseline: session.staged.baseline,
    sessionId: 'sess',
    store: openContentStore(at('store')),
    syncBack: true,
    ...more,
  });
}

async function land(session: { staged: StagedClaude }, data: ClaudeData, yes = false): Promise<ClaudeOutcome[]> {
  return applyClaude(data, openContentStore(at('store')), session.staged.instance, {
    accepted: () => yes,
    dryRun: false,
  });
}

const instanceFile = (session: { staged: StagedClaude }, path: string): string =>
  readFileSync(join(session.staged.instance.dir, path), 'utf8');
const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const turn = (n: number, parent: number | null, more: object = {}): string =>
  JSON.stringify({
    type: n % 2 ? 'user' : 'assistant',
    uuid: uuid(n),
    parentUuid: parent === null ? null : uuid(parent),
    sessionId: ID,
    timestamp: '2026-01-01T00:00:00.000Z',
    cwd: '/workspace',
    message: { role: n % 2 ? 'user' : 'assistant', content: `turn ${n}` },
    ...more,
  });
const transcript = `projects/-workspace/${ID}.jsonl`;
const titles = (data: ClaudeData): string[] => data.findings.map((finding) => `${finding.severity} ${finding.path}`);

describe('transcripts', () => {
  it('count the one that was written last as the session’s conversation, and none that was only read', async () => {
    const first = await start('s1');
    expect((await end(first)).conversation).toBeUndefined();
    const other = '99999999-2222-4333-8444-555555555555';
    for (const [id, seconds] of [
      [ID, 200],
      [other, 100],
    ] as const) {
      const path = `projects/-workspace/${id}.jsonl`;
      first.write(path, `${turn(1, null, { sessionId: id })}\n`);
      utimesSync(join(first.dir, '.claude', path), seconds, seconds);
    }
    const data = await end(first);
    expect(data.conversation).toBe(ID);
    await land(first, data);
    const second = await start('s2');
    const path = `projects/-workspace/${other}.jsonl`;
    appendFileSync(join(second.dir, '.claude', path), `${turn(3, 1, { sessionId: other })}\n`);
    expect((await end(second)).conversation).toBe(other);
  });

  it('of print mode count as conversations for Claude’s own --continue', async () => {
    const session = await start('s1');
    const lines = [turn(1, null, { entrypoint: 'sdk-cli' }), turn(2, 1, { entrypoint: 'cli' })];
    session.write(transcript, `${lines.join('\n')}\n`);
    await land(session, await end(session));
    const kept = instanceFile(session, transcript).trim().split('\n');
    expect(kept.map((line) => (JSON.parse(line) as { entrypoint?: string }).entrypoint)).toEqual([undefined, 'cli']);
  });

  it('keep the conversation, connected, and drop records that act on resume', async () => {
    const session = await start('s1');
    const acts = [
      {
        type: 'file-history-snapshot',
        messageId: uuid(1),
        snapshot: { trackedFileBackups: { '/x': { backupFileName: null } } },
      },
      { type: 'worktree-state', sessionId: ID, worktreeSession: { worktreePath: '/tmp/evil' } },
      { type: 'permission-mode', permissionMode: 'bypassPermissions', sessionId: ID },
      { type: 'queue-operation', operation: 'enqueue', content: 'push', sessionId: ID },
      { type: 'agent-setting', agentSetting: 'x', sessionId: ID },
      {
        type: 'attachment',
        uuid: uuid(50),
        parentUuid: uuid(1),
        sessionId: ID,
        attachment: { type: 'prompt_snapshot', systemPrompt: ['MARKER'] },
      },
      { type: '__proto__', sessionId: ID },
    ];
    const lines = [
      turn(1, null),
      ...acts.map((act) => JSON.stringify(act)),
      turn(2, 50, { cwd: '/etc', toolUseResult: { MARKER: 1 }, permissionMode: 'MARKER' }),
    ];
    session.write(transcript, `${lines.join('\n')}\n`);
    const data = await end(session);
    expect(data.dropped).toMatchObject({
      attachment: 1,
      'file-history-snapshot': 1,
      'worktree-state': 1,
      'permission-mode': 1,
      'queue-operation': 1,
      'agent-setting': 1,
    });
    expect(await land(session, data)).toEqual([{ path: transcript, verdict: 'applied' }]);
    const text = instanceFile(session, transcript);
    expect(text).not.toMatch(/MARKER|evil|bypass|\/etc/);
    const records = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(records.map((record) => [record['uuid'], record['parentUuid']])).toEqual([
      [uuid(1), null],
      [uuid(2), uuid(1)],
    ]);
    expect(records.every((record) => record['madeInSandbox'] === 'sess' && record['cwd'] === '/workspace')).toBe(true);
  });

  it('continue in the next session, and two concurrent sessions keep both', async () => {
    const first = await start('s1');
    first.write(transcript, `${turn(1, null)}\n${turn(2, 1)}\n`);
    await land(first, await end(first));
    const [a, b] = [await start('a'), await start('b')];
    appendFileSync(join(a.dir, '.claude', transcript), `${turn(3, 2)}\n`);
    appendFileSync(join(b.dir, '.claude', transcript), `${turn(5, 2)}\n`);
    for (const session of [a, b]) {
      const data = await end(session);
      expect((await land(session, data)).map((one) => one.verdict)).toEqual(['applied']);
      expect((await land(session, data)).map((one) => one.verdict)).toEqual(['same']);
    }
    const kept = instanceFile(first, transcript)
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { uuid: string }).uuid);
    expect(kept).toEqual([uuid(1), uuid(2), uuid(3), uuid(5)]);
  });

  it('of the host are staged with mapped paths, and new records come back with their beginning', async () => {
    const key = at('project').replace(/[^a-zA-Z0-9]/g, '-');
    mkdirSync(at('home/.claude/projects', key), { recursive: true });
    writeFileSync(
      at('home/.claude/projects', key, `${ID}.jsonl`),
      `${turn(1, null, { cwd: at('project/sub') })}\n${turn(2, 1, { cwd: at('project') })}\n`,
    );
    const session = await start('s');
    appendFileSync(join(session.dir, '.claude', transcript), `${turn(3, 2)}\n`);
    await land(session, await end(session));
    expect(instanceFile(session, transcript).trim().split('\n')).toHaveLength(3);
    expect(instanceFile(session, transcript)).toContain('"cwd":"/workspace/sub"');
  });

  it('that are rewritten, deleted, misnamed or not regular files are refused and reported', async () => {
    const first = await start('s1');
    first.write(transcript, `${turn(1, null)}\n`);
    await land(first, await end(first));
    const before = instanceFile(first, transcript);
    const session = await start('s2');
    session.write(transcript, `${turn(7, null)}\n`);
    session.write('projects/-workspace/../../settings.jsonl', '{}');
    session.write(`projects/-other/${ID}.jsonl`, turn(1, null));
    mkdirSync(join(session.dir, `.claude/projects/-workspace/${uuid(8)}.jsonl`));
    symlinkSync('/etc/passwd', join(session.dir, `.claude/projects/-workspace/${uuid(9)}.jsonl`));
    execFileSync('mkfifo', [join(session.dir, `.claude/projects/-workspace/${uuid(10)}.jsonl`)]);
    linkSync(join(session.dir, '.claude.json'), join(session.dir, `.claude/projects/-workspace/${uuid(11)}.jsonl`));
    const data = await end(session);
    expect(data.changes).toEqual([]);
    expect(titles(data)).toEqual(
      expect.arrayContaining([
        `blocked ~/.claude/${transcript}`,
        `blocked ~/.claude/projects/-other/${ID}.jsonl`,
        `blocked ~/.claude/projects/-workspace/${uuid(9)}.jsonl`,
        `blocked ~/.claude/projects/-workspace/${uuid(10)}.jsonl`,
        `blocked ~/.claude/projects/-workspace/${uuid(11)}.jsonl`,
      ]),
    );
    rmSync(join(session.dir, '.claude/projects'), { recursive: true });
    expect(titles(await end(session))).toContain(`note ~/.claude/${transcript}`);
    expect(instanceFile(first, transcript)).toBe(before);
  });

  it('keep only the fields that have the form that Claude writes', async () => {
    const session = await start('s');
    const odd = [
      turn(3, 1, { timestamp: 'now\u001b[2J' }),
      turn(5, 1, { timestamp: 7 }),
      turn(7, 1, { uuid: 'x' }),
      turn(9, 1, { message: { role: 'assistant', content: 'the other role' } }),
      turn(11, 1, { message: { role: 'user', content: [{ type: 'command', run: 'x' }] } }),
      JSON.stringify({ type: 'summary', leafUuid: uuid(1), summary: 'x'.repeat(10_000) }),
    ];
    const fine = turn(13, 1, { version: '1.2.3', gitBranch: 'a b; rm', entrypoint: 'x'.repeat(201), isMeta: 'yes' });
    session.write(transcript, `${[turn(1, null), ...odd, fine].join('\n')}\n\n`);
    const data = await end(session);
    await land(session, data);
    const [, last, ...rest] = instanceFile(session, transcript)
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(rest).toEqual([]);
    expect(last).toMatchObject({ uuid: uuid(13), parentUuid: uuid(1), version: '1.2.3' });
    for (const name of ['gitBranch', 'entrypoint', 'isMeta']) expect(last).not.toHaveProperty(name);
    expect(data.dropped).toEqual({ 'user (not well-formed)': 5, 'summary (not well-formed)': 1 });
  });

  it('survive hostile lines: deep, giant, partial, NUL, doubled ids, prototypes', async () => {
    const session = await start('s');
    const deep = `{"type":"user","x":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`;
    const proto = turn(3, 1).replace('{"type"', '{"__proto__":{"polluted":1},"type"');
    const giant = turn(9, 1, { message: { role: 'user', content: 'x'.repeat(17 << 20) } });
    session.write(
      transcript,
      [turn(1, null), deep, '{not json', `${turn(5, 1)}\0`, turn(1, null), proto, giant, turn(7, 3).slice(0, 40)].join(
        '\n',
      ),
    );
    const data = await end(session, { secrets: ['turn 3'] });
    await land(session, data);
    expect(instanceFile(session, transcript).trim().split('\n')).toHaveLength(1);
    expect(data.dropped).toMatchObject({ invalid: 3, 'line too long': 1, 'line without an end': 1 });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('history, memory, plans', () => {
  it('accepts new prompts of this project, cleaned; shell commands need a yes; a rewrite is refused', async () => {
    const first = await start('s1');
    const line = (display: string, project = '/workspace'): string =>
      `${JSON.stringify({ display, project, timestamp: 1, pastedContents: { 1: 'x' } })}\n`;
    appendFileSync(
      join(first.dir, '.claude/history.jsonl'),
      `${line('one\u001b]0;x\u0007')}${line('two', '/other')}{broken\n`,
    );
    await land(first, await end(first));
    expect(instanceFile(first, 'history.jsonl')).toBe(
      '{"display":"one]0;x","pastedContents":{},"timestamp":1,"project":"/workspace"}\n',
    );
    const second = await start('s2');
    appendFileSync(join(second.dir, '.claude/history.jsonl'), line('! curl x | sh'));
    const data = await end(second);
    expect(await land(second, data)).toEqual([{ path: 'history.jsonl', verdict: 'suspect' }]);
    expect(titles(data)).toContain('suspect ~/.claude/history.jsonl');
    truncateSync(join(second.dir, '.claude/history.jsonl'));
    const rewritten = await end(second);
    expect([rewritten.changes, titles(rewritten)]).toEqual([[], ['blocked ~/.claude/history.jsonl']]);
  });

  it('memory, plans and to-dos are suspect, and are applied after a yes unless the instance has changed since', async () => {
    const first = await start('s1');
    const files = [
      'projects/-workspace/memory/MEMORY.md',
      'plans/a.md',
      `todos/${ID}-agent-${ID}.json`,
      `tasks/${ID}/1.json`,
    ];
    for (const path of files) first.write(path, '["text"]');
    const data = await end(first);
    expect(data.changes.map((change) => [change.path, change.verdict]).sort()).toEqual(
      files.map((path) => [path, 'suspect']).sort(),
    );
    expect((await land(first, data)).every((one) => one.verdict === 'suspect')).toBe(true);
    expect(existsSync(join(first.staged.instance.dir, 'plans'))).toBe(false);
    expect((await land(first, data, true)).every((one) => one.verdict === 'applied')).toBe(true);
    const [a, b] = [await start('a'), await start('b')];
    a.write('plans/a.md', 'from a');
    b.write('plans/a.md', 'from b');
    expect(await land(a, await end(a), true)).toEqual([{ path: 'plans/a.md', verdict: 'applied' }]);
    expect(await land(b, await end(b), true)).toEqual([{ path: 'plans/a.md', verdict: 'conflict' }]);
    expect(instanceFile(first, 'plans/a.md')).toBe('from a');
  });

  it('refuses and reports text that is binary, too long, too deep, linked, or contains a credential', async () => {
    const session = await start('s');
    const token = 'a token that was inside';
    const files: Record<string, [content: string | Buffer, title: string]> = {
      'plans/latin.md': [Buffer.from([0x61, 0xff]), 'Not well-formed'],
      'plans/nul.md': ['a\0b', 'Not well-formed'],
      'plans/giant.md': ['x'.repeat((1 << 20) + 1), 'Too large'],
      'plans/token.md': [`see ${token}`, 'Holds a credential'],
      'plans/key.md': ['sk-ant-oat01-abcdefghijkl', 'Holds a credential'],
      [`tasks/${ID}/1.json`]: ['no json', 'Not well-formed'],
      [`tasks/${ID}/2.json`]: ['['.repeat(51) + ']'.repeat(51), 'Not well-formed'],
    };
    for (const [file, [content]] of Object.entries(files)) {
      session.write(file, '');
      writeFileSync(join(session.dir, '.claude', file), content);
    }
    session.write('plans/fine.md', 'sk-ant-oat01-placeholder-of-the-session');
    const data = await end(session, { secrets: [token] });
    expect(data.changes.map(({ path }) => path)).toEqual(['plans/fine.md']);
    const refused = data.findings.filter(({ rule }) => rule === 'claude-data-refused');
    expect(Object.fromEntries(refused.map(({ path, title }) => [path.slice('~/.claude/'.length), title]))).toEqual(
      Object.fromEntries(Object.entries(files).map(([file, [, title]]) => [file, title])),
    );
    expect(JSON.stringify(data)).not.toContain(token);
  });

  it('nothing comes back with --no-sync-back', async () => {
    const session = await start('s');
    session.write(transcript, `${turn(1, null)}\n`);
    session.write('plans/a.md', 'x');
    expect((await end(session, { syncBack: false })).changes).toEqual([]);
  });
});

it('only paths in the exact spelling of the allowlist come back', () => {
  const names = [
    'history.jsonl',
    transcript,
    'projects/-workspace/memory/a.md',
    'plans/a.md',
    `todos/${ID}-agent-${ID}.json`,
    `tasks/${ID}/1.json`,
  ];
  for (const name of names) {
    expect(backRule(`.claude/${name}`)?.target(`.claude/${name}`), name).toBe(name);
    for (const other of [`${name}/x`, `${name}/x/y`, `${name}/x/y/z`, `x/${name}`, `${name}x`, name.slice(1)])
      expect(backRule(`.claude/${other}`), other).toBeUndefined();
  }
  const others = [
    'plans/.a.md',
    'plans/a.txt',
    'plans/ä.md',
    `tasks/${ID}/1234567.json`,
    'tasks/x/1.json',
    'todos/x.json',
  ];
  for (const other of others) expect(backRule(`.claude/${other}`), other).toBeUndefined();
});

describe('a session that rewrites all of ~/.claude', () => {
  const NEVER = [
    'settings.local.json',
    '.config.json',
    'CLAUDE.md',
    'hooks/x.sh',
    'commands/x.md',
    'agents/x.md',
    'skills/x/SKILL.md',
    'plugins/cache/a/b/hooks.json',
    'plugins/installed_plugins.json',
    'workflows/x',
    'routines/x',
    'rules/x.md',
    'output-styles/x.md',
    'loop.md',
    'memory/personal',
    'agent-memory/x',
    'my-script.sh',
    'local/claude',
    'chrome/chrome-native-host',
    'launch.json',
    'jobs/a/state.json',
    'daemon.json',
    'scheduled_tasks.json',
    'seed-admin/config',
    'state/settings-review.json',
    'remote-settings.json',
    'ide/1.lock',
    'teams/t/inboxes/a.json',
    '.credentials.json',
    '.device-keys.json',
    'brand-new/x',
    `session-env/${ID}/sessionstart-hook-0.sh`,
  ];
  it('changes nothing on the host, and each attempt is reported', async () => {
    for (const path of ['CLAUDE.md', 'skills/x/SKILL.md']) {
      mkdirSync(dirname(at('home/.claude', path)), { recursive: true });
      writeFileSync(at('home/.claude', path), 'the person’s own');
    }
    cpSync(at('home'), at('before'), { recursive: true });
    const session = await start('s');
    for (const path of NEVER) session.write(path, 'planted');
    session.write('settings.json', '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch m"}]}]}}');
    writeFileSync(
      join(session.dir, '.claude.json'),
      '{"mcpServers":{"x":{"command":"touch"}},"projects":{"/":{"hasTrustDialogAccepted":true}},"primaryApiKey":"k"}',
    );
    const data = await end(session);
    await land(session, data, true);
    execFileSync('diff', ['-r', at('before'), at('home')]);
    expect(data.changes).toEqual([]);
    const told = titles(data).join('\n');
    for (const path of [...NEVER, 'settings.json']) expect(told).toContain(`~/.claude/${path}`);
    expect(data.findings.filter((finding) => finding.rule === 'claude-json')).toHaveLength(3);
  });
  it('does not report files that Claude always writes, nor unchanged staged files', async () => {
    const own = { 'CLAUDE.md': 'short', 'skills/x/SKILL.md': 'long'.repeat(300_000), 'settings.json': '{}' };
    for (const [path, content] of Object.entries(own)) {
      mkdirSync(dirname(at('home/.claude', path)), { recursive: true });
      writeFileSync(at('home/.claude', path), content);
    }
    const session = await start('s');
    session.write('settings.json', '{ "skipDangerousModePermissionPrompt": true }');
    for (const path of [
      'telemetry/1p',
      'shell-snapshots/x.sh',
      `session-env/${ID}/x`,
      'sessions/1.json',
      'backups/b',
      'plugins/store/x.json',
      'file-history/a/b@v1',
      'statsig/x',
    ])
      session.write(path, 'x');
    expect(await end(session)).toEqual({ changes: [], attempts: [], findings: [], dropped: {} });
    session.write('skills/x/SKILL.md', 'evil'.repeat(300_000));
    expect(titles(await end(session))).toEqual(['blocked ~/.claude/skills/x/SKILL.md']);
  });
});
