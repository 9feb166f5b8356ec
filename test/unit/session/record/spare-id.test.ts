import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HELPER_USER } from '../../../../src/engines/engine/hardening/hardened.ts';
import { COMPANION_UID } from '../../../../src/network/companion/companion-place.ts';
import { type AccountSearch, findSpareId, SERVANT_IDS } from '../../../../src/session/record/find/spare-id.ts';
import { skipUnless } from '../../../support/requirement.ts';

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(path.join(tmpdir(), 'run-claude-spare-id-'));
});
afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

const accounts = (inFiles: readonly number[], inSources: readonly number[] = []): AccountSearch => ({
  inFiles: () => new Set(inFiles),
  inSources: vi.fn(() => new Set(inSources)),
});
const find = (search: AccountSearch, uid = 0): number => findSpareId(stateDir, uid, search);

it('is the first number that neither a file nor another source has', () => {
  expect(find(accounts([61_100, 61_102], [61_101, 61_103]))).toBe(61_104);
});

it('fits into a user namespace of 65,536 numbers, and is neither the gateway’s nor a helper’s', () => {
  const id = find(accounts([]));
  expect(id).toBeLessThan(65_534);
  expect(SERVANT_IDS).not.toContain(id);
  expect([COMPANION_UID, HELPER_USER]).toEqual([SERVANT_IDS[0], `${SERVANT_IDS[1]}:${SERVANT_IDS[1]}`]);
});

it('stays the same when a source no longer answers, and is looked up once', () => {
  const slow = accounts([], [61_100]);
  expect(find(slow)).toBe(61_101);
  expect(find(accounts([]))).toBe(61_101);
  find(slow);
  expect(slow.inSources).toHaveBeenCalledTimes(1);
});

it('is chosen again when an account gets it', () => {
  expect(find(accounts([]))).toBe(61_100);
  expect(find(accounts([61_100]))).toBe(61_101);
  expect(find(accounts([]))).toBe(61_101);
});

it.each([
  ['damaged', '{'],
  ['of another release', '{"version":2,"id":61105}'],
  ['a number that sessions never had', '{"version":1,"id":0}'],
  ['a number of the system', '{"version":1,"id":33}'],
])('a stored choice that is %s does not count', (_, text) => {
  writeFileSync(path.join(stateDir, 'agent-id.json'), text);
  expect(find(accounts([]))).toBe(61_100);
});

it('is refused where accounts have all of them', () => {
  const all = Array.from({ length: 84 }, (_, index) => 61_100 + index);
  expect(() => find(accounts(all))).toThrow(expect.objectContaining({ code: 'USER_NONE_SPARE' }));
});

it('does not ask for the accounts of this machine where it is used on others only', () => {
  const search = accounts([61_100]);
  expect(find(search, 501)).toBe(61_100);
  expect(search.inSources).not.toHaveBeenCalled();
});

it('is found where it cannot be stored', (context) => {
  skipUnless(process.platform === 'linux', 'needs Linux, where /proc accepts no file', context);
  expect(findSpareId('/proc/self', 0, accounts([61_100]))).toBe(61_101);
});

it('makes no state directory', () => {
  rmSync(stateDir, { recursive: true });
  expect(find(accounts([]))).toBe(61_100);
  expect(existsSync(stateDir)).toBe(false);
});
