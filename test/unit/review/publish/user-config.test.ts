import { describe, expect, it } from 'vitest';
import { pickRemote } from '../../../../src/review/publish/push.ts';
import { parseSettings, type Setting, settingOf, signing } from '../../../../src/review/publish/user-config.ts';

const list = (...rows: [scope: string, key: string, value: string][]): Setting[] =>
  rows.map(([scope, key, value]) => ({ scope, key, value }));

it('reads what git prints, also values of several lines and keys without a value', () => {
  const output = 'global\0user.name\nA\nB\0local\0core.bare\0command\0a.b\n\0';
  expect(parseSettings(output)).toEqual(
    list(['global', 'user.name', 'A\nB'], ['local', 'core.bare', 'true'], ['command', 'a.b', '']),
  );
  expect(settingOf(list(['global', 'a', '1'], ['local', 'a', '2']), 'a')).toBe('2');
});

describe('signing', () => {
  it('follows the setting that counts', () => {
    expect(signing([]).isSigned).toBe(false);
    expect(signing(list(['global', 'commit.gpgsign', 'true'], ['local', 'commit.gpgsign', 'false'])).isSigned).toBe(
      false,
    );
    expect(signing(list(['local', 'commit.gpgsign', 'true'])).isSigned).toBe(true);
  });

  it('never takes the program from the repository', () => {
    const evil = list(
      ['global', 'gpg.ssh.program', '/usr/bin/mine'],
      ['local', 'gpg.program', './evil'],
      ['local', 'gpg.openpgp.program', './evil'],
      ['worktree', 'gpg.x509.program', './evil'],
      ['local', 'gpg.ssh.program', './evil'],
      ['local', 'gpg.ssh.defaultkeycommand', './evil'],
    );
    const { settings } = signing(evil);
    expect(settings.join('\n')).not.toContain('evil');
    expect(settings).toEqual([
      'gpg.program=gpg',
      'gpg.openpgp.program=gpg',
      'gpg.x509.program=gpgsm',
      'gpg.ssh.program=/usr/bin/mine',
      'gpg.ssh.defaultkeycommand=',
    ]);
  });
});

describe('pickRemote', () => {
  const remotes = list(['local', 'remote.origin.url', 'x'], ['local', 'remote.mine.url', 'y']);

  it('takes the remote that git would take', () => {
    expect(pickRemote(remotes, undefined, undefined)).toBe('origin');
    expect(pickRemote([...remotes, ...list(['local', 'branch.main.remote', 'mine'])], 'main', undefined)).toBe('mine');
    expect(pickRemote([...remotes, ...list(['global', 'remote.pushdefault', 'mine'])], 'main', undefined)).toBe('mine');
    expect(pickRemote(list(['local', 'remote.up.url', 'x']), 'main', undefined)).toBe('up');
    expect(pickRemote(remotes, undefined, 'mine')).toBe('mine');
  });

  it.each(['--exec=x', 'https://example.org/x', 'ext::sh -c x', '.', '../x', 'none', ''])('refuses %j', (name) => {
    expect(() => pickRemote([...remotes, ...list(['local', '', ''])], undefined, name)).toThrow(/is not a remote/);
  });

  it('refuses a name of the configuration that could be an option', () => {
    expect(() => pickRemote(list(['local', 'remote.--exec=x.url', 'y']), undefined, undefined)).toThrow(/no remote/);
    expect(() => pickRemote(list(['local', 'remote.--exec=x.url', 'y']), undefined, '--exec=x')).toThrow(
      /not a remote/,
    );
  });
});
