import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { main } from '../../../../src/cli/main.ts';
import { placeUser, requireOwnPlaces } from '../../../../src/core/host/files/own-places.ts';

const places = {
  home: '/home/u',
  stateDir: '/home/u/.local/state/run-claude',
  cacheDir: '/home/u/.cache/run-claude',
  dataDir: '/home/u/.local/share/run-claude',
  configDir: '/home/u/.config/run-claude',
};

/** The error's code and hint for the directories that exist, each with its owner and mode. */
function check(
  user: { readonly uid: number; readonly sudoUid?: number },
  there: Readonly<Record<string, readonly [number, number]>>,
): { readonly code: string; readonly hint: string } | undefined {
  try {
    requireOwnPlaces(places, { sudoUid: undefined, ...user }, (file) => {
      const found = there[file];
      return found && { uid: found[0], mode: 0o040000 | found[1] };
    });
    return undefined;
  } catch (error) {
    return error as { code: string; hint: string };
  }
}

const HOME = { '/': [0, 0o755], '/home': [0, 0o755], '/home/u': [1000, 0o755] } as const;

it.each(['stateDir', 'cacheDir', 'dataDir'] as const)(
  'refuses a %s of another user, or one that others may write to',
  (name) => {
    const dir = places[name];
    expect(check({ uid: 1000 }, { ...HOME, [dir]: [1000, 0o700] })).toBeUndefined();
    expect(check({ uid: 1000 }, { ...HOME, [dir]: [1000, 0o755] })).toBeUndefined();
    expect(check({ uid: 1000 }, { ...HOME, [dir]: [1001, 0o700] })).toMatchObject({ code: 'PLACE_FOREIGN' });
    expect(check({ uid: 1000 }, { ...HOME, [dir]: [1001, 0o777] })).toMatchObject({ code: 'PLACE_FOREIGN' });
    for (const mode of [0o777, 0o1777, 0o770, 0o702])
      expect(check({ uid: 1000 }, { ...HOME, [dir]: [1000, mode] }), mode.toString(8)).toMatchObject({
        code: 'PLACE_OPEN',
        hint: expect.stringContaining(`chmod go-w ${dir}`),
      });
  },
);

it('takes a configuration of another user: some systems keep it as root', () => {
  expect(check({ uid: 1000 }, { ...HOME, [places.configDir]: [0, 0o755] })).toBeUndefined();
});

it('refuses root with the directories of a user, also before they exist under sudo', () => {
  const wayOut = { code: 'PLACE_FOREIGN', hint: expect.stringContaining('without sudo') };
  expect(check({ uid: 0, sudoUid: 1000 }, { ...HOME, [places.stateDir]: [1000, 0o700] })).toMatchObject(wayOut);
  expect(check({ uid: 0 }, { ...HOME, [places.stateDir]: [1000, 0o700] })).toMatchObject(wayOut);
  expect(check({ uid: 0, sudoUid: 1000 }, HOME)).toMatchObject(wayOut);
  // In a container root may work in a home that was mounted from the host.
  expect(check({ uid: 0 }, HOME)).toBeUndefined();
  expect(check({ uid: 0, sudoUid: 0 }, HOME)).toBeUndefined();
  expect(check({ uid: 0, sudoUid: 1000 }, { '/': [0, 0o755], '/home': [0, 0o755] })).toBeUndefined();
});

it('tells a user what a run as root has left', () => {
  expect(check({ uid: 1000 }, { ...HOME, [places.cacheDir]: [0, 0o700] })).toMatchObject({
    code: 'PLACE_FOREIGN',
    hint: expect.stringContaining('run as root'),
  });
});

it('reads who called sudo', () => {
  expect(placeUser({ getuid: () => 0, env: { SUDO_UID: '1000' } })).toEqual({ uid: 0, sudoUid: 1000 });
  for (const odd of ['', '-1', '1e3', 'root'])
    expect(placeUser({ getuid: () => 7, env: { SUDO_UID: odd } })).toEqual({ uid: 7, sudoUid: undefined });
  expect(placeUser({ env: {} })).toBeUndefined();
});

it('ends every command but doctor', async () => {
  const top = mkdtempSync(path.join(tmpdir(), 'run-claude-own-places-'));
  onTestFinished(() => rmSync(top, { recursive: true }));
  const state = path.join(top, 'run-claude');
  mkdirSync(state);
  chmodSync(state, 0o777);
  for (const name of ['XDG_STATE_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME']) vi.stubEnv(name, top);
  onTestFinished(() => void vi.unstubAllEnvs());
  const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => printed.mockRestore());
  for (const words of [['sessions'], ['status'], ['gc'], ['config'], ['exec', top, '--', 'true']])
    expect(await main(words), words.join(' ')).toBe(125);
  expect(printed.mock.calls.join('')).toContain(`other users may write to ${state}`);
  // Of a user who repaired it.
  chmodSync(state, 0o700);
  expect(await main(['sessions'])).toBe(0);
});
