import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RunClaudeError } from '../../../../src/core/errors.ts';
import { writeJsonAtomic } from '../../../../src/core/store/record.ts';
import type { Tell } from '../../../../src/core/types/event.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import type { SessionRecord } from '../../../../src/core/types/session.ts';
import { discardSession } from '../../../../src/session/later/discard.ts';
import { runGc } from '../../../../src/session/later/gc/gc.ts';
import { readRecord } from '../../../../src/session/record/session.ts';
import { type PlanParts, sessionRecord } from '../../../support/session-record.ts';

const ID = '261121-140512-k7p';

/** A session on its own file system, which is full: of bytes, or of files. */
function scene(options: string, more: Partial<SessionRecord> = {}, parts: PlanParts = {}) {
  const root = mkdtempSync(path.join(tmpdir(), 'run-claude-discard-'));
  const state = path.join(root, 'state');
  mkdirSync(state);
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'run-claude-test', state]);
  onTestFinished(() => {
    execFileSync('umount', [state]);
    rmSync(root, { recursive: true });
  });
  const sessionDir = path.join(state, 'sessions', ID);
  mkdirSync(path.join(sessionDir, 'layer', 'upper'), { recursive: true });
  mkdirSync(path.join(sessionDir, 'store'));
  const plan = {
    sessionId: ID,
    sessionDir,
    baseDir: path.join(root, 'cache', 'base'),
    strategy: 'layers' as const,
    ...parts,
  };
  const record = sessionRecord({ stage: 'ended', workspace: { strategy: 'layers' }, ...more, plan });
  writeJsonAtomic(path.join(sessionDir, 'session.json'), record);
  fill(path.join(sessionDir, parts.strategy === 'volume' ? 'store' : 'layer/upper'));
  const said: string[] = [];
  const tell: Tell = (event) => void said.push('text' in event ? event.text : '');
  return { root, state, sessionDir, record, said, deps: { tell } };
}

/** Until the file system takes no byte and no file more. */
function fill(dir: string): void {
  for (let size = 1 << 20, at = 0; ; at++) {
    try {
      writeFileSync(path.join(dir, `filler-${at}`), Buffer.alloc(size, 1));
    } catch {
      if (size === 1) return;
      size = size > 4096 ? size / 4 : 1;
    }
  }
}

const FULL = ['size=8m', 'size=8m,nr_inodes=40'];

describe.each(FULL)('on a full disk (%s)', (options) => {
  it.each(['ended', 'pending'] as const)('a session that is %s is thrown away without being read', async (stage) => {
    const { sessionDir, record, said, deps } = scene(options, { stage });
    expect(() => writeFileSync(path.join(sessionDir, 'more'), 'x')).toThrow('ENOSPC');
    rmSync(path.join(sessionDir, 'more'), { force: true });
    let opened = 0;
    await discardSession(record, deps, () => {
      opened++;
      throw new RunClaudeError('ENGINE_UNREACHABLE', 'no engine');
    });
    expect(readRecord(sessionDir)?.stage).toBe('discarded');
    expect(readdirSync(sessionDir).sort()).toEqual(['events.jsonl', 'session.json', 'store']);
    expect(said.at(-1)).toBe(`Session ${ID} is discarded.`);
    expect(opened).toBe(stage === 'ended' ? 1 : 0);
  });

  it('gc removes what no session needs', async () => {
    const { state, sessionDir, root, record } = scene(options, { stage: 'discarded' });
    const places = { home: root, stateDir: state, cacheDir: path.join(root, 'cache'), dataDir: root, configDir: root };
    const removed = await runGc({ places, engine: undefined, nowMs: Date.parse(record.updated), currentImages: [] });
    expect(removed).toEqual({ removed: [expect.objectContaining({ kind: 'layer', name: ID })], problems: [] });
    expect(existsSync(path.join(sessionDir, 'layer'))).toBe(false);
  });
});

it('removes containers, volumes and networks of a session whose command was killed, and starts none', async () => {
  const { record, sessionDir, deps } = scene('size=8m');
  const calls: string[] = [];
  const names = ['container agent', 'container gateway', 'volume home', 'volume gw', 'network out'];
  const found = names.map((name) => ({ kind: name.split(' ')[0], name: name.split(' ')[1] }));
  // The engine's own calls; anything else that is asked of it ends the test.
  const engine = {
    list: async () => found,
    running: { find: async (name: string) => ({ remove: async () => void calls.push(`container ${name}`) }) },
    removeVolume: async (name: string) => void calls.push(`volume ${name}`),
    networks: { remove: async (name: string) => void calls.push(`network ${name}`) },
    close: async () => void calls.push('close'),
  } as unknown as Engine;
  await discardSession(record, deps, async () => engine);
  expect(calls).toEqual([...names, 'close']);
  expect(readRecord(sessionDir)?.stage).toBe('discarded');
});

it('an engine without space for a container, and one whose disk is full, leave the working copy to gc', async () => {
  const { record, sessionDir, said, deps } = scene('size=8m', {}, { strategy: 'volume' });
  const engine = {
    list: async () => [],
    close: async () => undefined,
    removeVolume: async () => {
      throw new RunClaudeError('DISK_FULL', 'no space left on device');
    },
  } as unknown as Engine;
  await discardSession(record, deps, async () => engine);
  expect(said[0]).toBe(`The working copy of session ${ID} is left to run-claude gc: no space left on device`);
  expect(readRecord(sessionDir)?.stage).toBe('discarded');
});
