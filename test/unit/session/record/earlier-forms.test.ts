import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gcCommand } from '../../../../src/cli/commands/gc.ts';
import { discardCommand } from '../../../../src/cli/commands/review/discard.ts';
import { sessionsCommand } from '../../../../src/cli/commands/sessions.ts';
import { statusCommand } from '../../../../src/cli/commands/status.ts';
import type { CommandContext } from '../../../../src/cli/context/context.ts';
import { sessionFacts } from '../../../../src/session/end/report/session-facts.ts';
import { findSession } from '../../../../src/session/record/find/find-session.ts';
import { listSessions, readCollected, readRecord, updateRecord } from '../../../../src/session/record/session.ts';
import { readStaged } from '../../../../src/session/record/staged-claude.ts';
import { rememberStart, whyAskStart } from '../../../../src/session/record/start-answers.ts';
import { recordSessions } from '../../../support/session-fixture.ts';
import { planWith } from '../../../support/session-record.ts';

// Each folder of `fixtures` is a session directory that the code of that day wrote. They stay as they are: a change that
// makes one unreadable needs a migration.
const FIXTURES = path.join(import.meta.dirname, 'fixtures');
const ID = '261121-140512-k7p';

/** The session of a fixture in its own state directory. */
function layOld(fixture: string) {
  const state = mkdtempSync(path.join(tmpdir(), 'run-claude-old-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const dir = path.join(state, 'sessions', ID);
  cpSync(path.join(FIXTURES, fixture), dir, { recursive: true });
  const file = path.join(dir, 'session.json');
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('/home/ada/.local/state/run-claude', state));
  return { state, dir };
}

describe('records that earlier releases wrote', () => {
  it('reads a copy session of the first format, with its collected and its remaining changes', () => {
    const { state, dir } = layOld('copy-2026-11-21');
    const { sessions, unreadable } = listSessions(state);
    expect(unreadable).toEqual([]);
    const [record] = sessions;
    expect(record).toMatchObject({ id: ID, project: '/home/ada/shop', stage: 'pending', agentStatus: 0 });
    expect(readCollected(dir).changes.map(({ path: name }) => name)).toEqual([
      'Makefile',
      'out',
      'src/app.ts',
      'src/old.ts',
    ]);
    expect(record && sessionFacts(record)).toMatchObject({
      state: 'partly-applied',
      files: { total: 3, applied: 1, left: 2 },
      findings: { suspect: 1 },
    });
    expect(record && updateRecord(record, { stage: 'applied' })).toEqual(readRecord(dir));
  });

  it('reads a bind session that has its own repository', () => {
    const { state } = layOld('bind-2026-11-22');
    const record = findSession(state, ID.slice(-3), '/', 'any').record;
    expect(record).toMatchObject({
      stage: 'applied',
      plan: { mode: 'bind', strategy: 'bind' },
      bound: { commits: true },
    });
    expect(sessionFacts(record)).toMatchObject({ state: 'in-place', hasCommits: true });
  });

  it('migrates a list of staged Claude data that had no links', () => {
    const { dir } = layOld('copy-2026-11-21');
    expect(readStaged(dir)).toMatchObject({
      links: [],
      servers: ['docs'],
      files: { '.claude/settings.json': { size: 47 } },
    });
  });

  it('accepts an agreed start without a version', () => {
    const { state } = layOld('copy-2026-11-21');
    const plan = planWith({ weakenings: ['network open'] });
    rememberStart(plan, state);
    const [name = ''] = readdirSync(path.join(state, 'agreed'));
    const file = path.join(state, 'agreed', name);
    const { version, ...old } = JSON.parse(readFileSync(file, 'utf8'));
    expect(version).toBe(1);
    writeFileSync(file, JSON.stringify(old));
    expect(whyAskStart(plan, state)).toBeUndefined();
    expect(whyAskStart({ ...plan, weakenings: ['git push is let through'] }, state)).toBeDefined();
  });
});

const later = (record: Record<string, unknown>) => ({ ...record, version: 2 });
const withoutPlan = ({ plan: _, ...record }: Record<string, unknown>) => record;
const newPolicy = (record: Record<string, unknown>) => {
  const plan = record['plan'] as { readonly policy: object };
  return { ...record, plan: { ...plan, policy: { ...plan.policy, network: 'tunnel' } } };
};

describe.each<[string, (record: Record<string, unknown>) => unknown, string, string]>([
  ['of a newer release', later, 'written by a newer release of run-claude', 'Update run-claude'],
  ['without its plan', withoutPlan, 'is not a valid session record: plan is missing', 'remove that directory'],
  [
    'with an unknown value',
    newPolicy,
    'plan.policy.network is not one of gateway, none, open',
    'remove that directory',
  ],
  ['that is not JSON', () => undefined, 'is not the JSON that was written there', 'remove that directory'],
])('a record %s', (_name, change, reason, next) => {
  const [good, bad] = ['261120-100000-222', '261121-100000-333'];

  function lay() {
    const state = recordSessions([
      { id: good, stage: 'pending', started: '2026-11-20T10:00:00.000Z', files: { a: 'clean' } },
      { id: bad, stage: 'pending', started: '2026-11-21T10:00:00.000Z', files: { b: 'clean' } },
    ]);
    const file = path.join(state, 'sessions', bad, 'session.json');
    writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, 'utf8')))) ?? '{');
    const out: string[] = [];
    const warnings: string[] = [];
    const places = { stateDir: state, cacheDir: state, dataDir: state, configDir: state };
    const context = {
      env: { PATH: process.env['PATH'], DOCKER_HOST: `unix://${state}/no.sock` },
      cwd: state,
      places,
      tell: (event: { readonly level?: string; readonly text?: string }) =>
        event.level === 'warning' && warnings.push(event.text ?? ''),
      write: (text: string) => out.push(text),
      interruption: { signal: new AbortController().signal, by: () => undefined },
    } as unknown as CommandContext;
    const line = (words: readonly string[], options: readonly string[] = []) => ({
      words,
      options: new Map(options.map((name) => [name, ['']] as const)),
    });
    return { state, out, warnings, context, line: line as unknown as (...args: unknown[]) => never };
  }

  it('is listed with the reason by `sessions`, next to the readable records', async () => {
    const { out, warnings, context, line } = lay();
    expect(await sessionsCommand(line([]), context)).toBe(0);
    expect(out.join('')).toContain(good);
    expect(out.join('')).not.toContain(bad);
    expect(warnings).toEqual([expect.stringContaining(`Session ${bad} is left out: `)]);
    expect(warnings[0]).toContain(reason);
    expect(warnings[0]).toContain(next);
  });

  it('does not prevent status or discard of another session', async () => {
    const { state, out, context, line } = lay();
    expect(await statusCommand(line([good]), context)).toBe(0);
    expect(out.join('')).toContain(good);
    expect(await discardCommand(line([good], ['yes']), context)).toBe(0);
    expect(readRecord(path.join(state, 'sessions', good))?.stage).toBe('discarded');
  });

  it('is refused with the same reason when named', async () => {
    const { context, line } = lay();
    await expect(statusCommand(line([bad]), context)).rejects.toThrow(reason);
  });

  it('is kept and named by gc', async () => {
    const { state, warnings, context, line } = lay();
    expect(await gcCommand(line([], ['dry-run']), context)).toBe(0);
    expect(warnings.filter((text) => text.includes(bad))).toHaveLength(1);
    expect(listSessions(state).unreadable.map(({ id }) => id)).toEqual([bad]);
  });
});
