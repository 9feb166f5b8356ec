import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Plan } from '../../../../src/core/types/plan.ts';
import { rememberStart, whyAskStart } from '../../../../src/session/record/start-answers.ts';
import { recordSessions } from '../../../support/session-fixture.ts';

const plan = (mode: Plan['mode'], weakenings: readonly string[], root = '/p'): Plan =>
  ({ mode, weakenings, project: { root } }) as unknown as Plan;

it('asks at the first start in a project, and when a setting is weaker than the user agreed to', () => {
  const state = mkdtempSync(path.join(tmpdir(), 'run-claude-agreed-'));
  try {
    const asks = (one: Plan): boolean => whyAskStart(one, state) !== undefined;
    expect(whyAskStart(plan('copy', []), state)).toBe('This is the first session of this project.');
    expect(asks(plan('copy', []))).toBe(true);
    rememberStart(plan('copy', ['network open', 'hosts allowed: secret.example']), state);
    expect(asks(plan('copy', ['network open']))).toBe(false);
    expect(asks(plan('copy', ['network open', 'git push is allowed']))).toBe(true);
    expect(whyAskStart(plan('copy', ['network open', 'git push is allowed']), state)).toBe(
      'This session is weaker than the last one: git push is allowed.',
    );
    expect(asks(plan('bind', []))).toBe(true);
    expect(asks(plan('copy', [], '/q'))).toBe(true);
    rememberStart(plan('bind', []), state);
    expect(asks(plan('bind', []))).toBe(false);
    expect(asks(plan('copy', []))).toBe(false);
    const [file = ''] = readdirSync(path.join(state, 'agreed'));
    expect(readFileSync(path.join(state, 'agreed', file), 'utf8')).not.toContain('secret.example');
    writeFileSync(path.join(state, 'agreed', file), '{');
    expect(asks(plan('bind', []))).toBe(true);
  } finally {
    rmSync(state, { recursive: true });
  }
});

it('does not call a session the first one where earlier ones were started without a question', () => {
  const id = '261121-140512-k7p';
  const state = recordSessions([{ id, stage: 'applied', started: '2026-11-21T14:05:12.000Z', project: '/p' }]);
  expect(whyAskStart(plan('copy', []), state)).toMatch(/^You were not asked about this project yet: .*--yes/);
  expect(whyAskStart(plan('copy', [], '/q'), state)).toBe('This is the first session of this project.');
  // Its own record does not count.
  expect(whyAskStart({ ...plan('copy', []), sessionId: id }, state)).toBe('This is the first session of this project.');
});
