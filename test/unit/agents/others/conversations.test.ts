import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentNamed, agentProgram, resumedProgram } from '../../../../src/agents/agents.ts';
import { openContentStore } from '../../../../src/core/store/content.ts';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { ClaudeData } from '../../../../src/core/types/agent/claude-data.ts';
import type { ListedEntry, TreeReader } from '../../../../src/core/types/collector.ts';

// What of an agent's conversations stays in its session, and how another run of the session continues it.

const ID = '01a2092f-f48b-75f0-ad7b-25d4514c2dac';
const OTHER = '11a2092f-f48b-75f0-ad7b-25d4514c2dac';
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-kept-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A home with these files, each changed after the one before it. A size in place of the content: so many bytes. */
function readerOf(files: Readonly<Record<string, string | number | 'link'>>): TreeReader {
  const entries = Object.entries(files).map(([name, content], at) => ({
    path: name as RelPath,
    kind: content === 'link' ? 'symlink' : 'file',
    size: typeof content === 'number' ? content : content.length,
    ctimeNs: String(10n ** 18n + BigInt(at)),
  })) as unknown as ListedEntry[];
  return {
    async *list(_root, below = '' as RelPath) {
      yield* entries.filter((entry) => entry.path.startsWith(`${below}/`));
    },
    async *read(_root, name) {
      const content = files[name] ?? '';
      if (typeof content === 'string') return yield Buffer.from(content);
      for (let left = content; left > 0; left -= 1 << 20) yield Buffer.alloc(Math.min(left, 1 << 20));
    },
  };
}

async function collect(agent: string, files: Readonly<Record<string, string | number>>): Promise<ClaudeData> {
  const { collect: run } = (await agentNamed(agent)?.loadData()) ?? {};
  if (run === undefined) throw new Error(agent);
  const store = openContentStore(path.join(dir, 'store'));
  const baseline = { files: {}, servers: [], links: [] };
  return run({ reader: readerOf(files), root: 'home', baseline, sessionId: 's', store, syncBack: true });
}

const keptOf = ({ kept = [] }: ClaudeData): string[] => kept.map((file) => file.path).sort();

describe('the conversations of a session', () => {
  const rollout = (id: string): string => `.codex/sessions/2026/11/23/rollout-2026-11-23T16-14-27-${id}.jsonl`;

  it.each([
    [
      'codex',
      [rollout(ID)],
      [
        '.codex/auth.json',
        '.codex/config.toml',
        '.codex/hooks.json',
        '.codex/state_5.sqlite',
        '.codex/sessions/x.sh',
        `.codex/sessions/2026/11/23/rollout-2026-11-23T16-14-27-${'-'.repeat(36)}.jsonl`,
        `${rollout(ID)}.toml`,
      ],
      ID,
    ],
    [
      'gemini',
      ['.gemini/projects.json', '.gemini/tmp/w/.project_root', '.gemini/tmp/w/chats/session-2026-11-23T16-15-ad.jsonl'],
      ['.gemini/settings.json', '.gemini/.env', '.gemini/oauth_creds.json', '.gemini/tmp/w/x/chats/session-a.jsonl'],
      'latest',
    ],
    [
      'opencode',
      ['.local/share/opencode/opencode.db', '.local/share/opencode/opencode.db-wal'],
      ['.local/share/opencode/auth.json', '.local/share/opencode/opencode.db-shm', '.config/opencode/opencode.json'],
      'latest',
    ],
    [
      'copilot',
      [`.copilot/session-state/${ID}/events.jsonl`, `.copilot/session-state/${ID}/checkpoints/index.md`],
      ['.copilot/config.json', '.copilot/session-state/x.jsonl', `.copilot/session-state/${ID}/.workspace-fork.lock`],
      ID,
    ],
  ])('%s: only files of conversations are kept, and nothing comes back', async (agent, wanted, unwanted, id) => {
    const files = [...unwanted, ...wanted];
    const found = await collect(agent, Object.fromEntries(files.map((name) => [name, `content of ${name}`])));
    expect(keptOf(found)).toEqual([...wanted].sort());
    expect([found.conversation, found.changes, found.attempts]).toEqual([id, [], []]);
    const store = openContentStore(path.join(dir, 'store'));
    for (const { path: name, digest } of found.kept ?? [])
      expect((await store.read(digest)).toString()).toBe(`content of ${name}`);
  });

  it('the one that changed last is continued, also where another name is newer', async () => {
    const found = await collect('codex', { [rollout(OTHER)]: 'a', [rollout(ID)]: 'b' });
    expect([found.conversation, keptOf(found)]).toEqual([ID, [rollout(ID), rollout(OTHER)]]);
    expect((await collect('codex', {})).kept).toBeUndefined();
  });

  it('a link is not kept, and no more than 64 MiB and 500 files are', async () => {
    expect((await collect('codex', { [rollout(ID)]: 'link' })).kept).toBeUndefined();
    const large = await collect('codex', { [rollout(OTHER)]: 60 << 20, [rollout(ID)]: 10 << 20 });
    expect([keptOf(large), large.dropped]).toEqual([[rollout(ID)], { 'conversation files': 1 }]);
    // No older one in its place, and no log without its database.
    const newest = await collect('codex', { [rollout(OTHER)]: 10, [rollout(ID)]: 65 << 20 });
    expect([newest.kept, newest.conversation, newest.dropped]).toEqual([
      undefined,
      undefined,
      { 'conversation files': 2 },
    ]);
    const database = '.local/share/opencode/opencode.db';
    const half = await collect('opencode', { [database]: 65 << 20, [`${database}-wal`]: 10 });
    expect([half.kept, half.dropped]).toEqual([undefined, { 'conversation files': 2 }]);
    const names = Array.from({ length: 600 }, (_, at) => `.copilot/session-state/${ID}/files/${at}`);
    const many = await collect('copilot', Object.fromEntries(names.map((name) => [name, 'x'])));
    expect([many.kept?.length, many.dropped]).toEqual([500, { 'conversation files': 100 }]);
  });
});

describe('another run of the session', () => {
  const skip = { permissions: 'skip' } as const;
  const resumed = (agent: string, words: readonly string[], conversation: string | undefined): readonly string[] => {
    const row = agentNamed(agent);
    if (row === undefined) throw new Error(agent);
    const { args } = resumedProgram(agentProgram(row, [], []), words, conversation, skip) as {
      args: readonly string[];
    };
    return args.filter((word) => !/^--(dangerously-bypass|approval-mode|allow-all)/.test(word));
  };

  it.each([
    ['codex', [], ['resume', ID]],
    ['codex', ['go on'], ['resume', ID, 'go on']],
    ['codex', ['exec', '--json', 'go on'], ['exec', '--json', 'resume', ID, 'go on']],
    ['codex', ['exec', '-C', '/tmp', '-i', 'a', 'go on'], ['exec', '-C', '/tmp', 'resume', ID, '-i', 'a', 'go on']],
    ['codex', ['exec', '-m=x', '-'], ['exec', '-m=x', 'resume', ID, '-']],
    ['codex', ['exec', '--json', '--', '-x'], ['exec', '--json', 'resume', ID, '--', '-x']],
    ['codex', ['e', 'go on'], ['e', 'resume', ID, 'go on']],
    ['codex', ['review', '--uncommitted'], ['review', '--uncommitted']],
    ['codex', ['exec', 'review'], ['exec', 'review']],
    ['gemini', ['mcp', 'list'], ['mcp', 'list']],
    ['opencode', ['models'], ['models']],
    ['opencode', ['run', 'models'], ['run', '--continue', 'models']],
    ['copilot', ['help'], ['help']],
    ['codex', ['resume', OTHER], ['resume', OTHER]],
    ['codex', ['exec', 'resume', OTHER, 'go on'], ['exec', 'resume', OTHER, 'go on']],
    ['gemini', ['-p', 'go on'], ['--resume', 'latest', '-p', 'go on']],
    ['gemini', ['-r', '2'], ['-r', '2']],
    ['opencode', [], ['--continue']],
    ['opencode', ['run', 'go on'], ['run', '--continue', 'go on']],
    ['opencode', ['run', '-s', 'x', 'go on'], ['run', '-s', 'x', 'go on']],
    ['copilot', ['-p', 'go on'], [`--resume=${ID}`, '-p', 'go on']],
    ['copilot', ['--continue'], ['--continue']],
  ])('%s %j continues its conversation', (agent, words, expected) => {
    expect(resumed(agent, words, ID)).toEqual(expected);
    expect(resumed(agent, ['x'], undefined)).toEqual(['x']);
  });
});
