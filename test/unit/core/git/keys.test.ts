import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../../src/core/git/config-parse.ts';
import { rewriteConfig } from '../../../../src/core/git/config-write.ts';
import { KEY_CLASSES } from '../../../../src/core/git/key-table.ts';
import { classOfKey, isHarmlessValue, keyPatterns } from '../../../../src/core/git/keys.ts';
import { dotGitDepth, isDotGitName, isHookName } from '../../../../src/core/git/names.ts';

describe('classOfKey', () => {
  it('gives each listed key its class, however it is spelled in a file', () => {
    const wrong: string[] = [];
    for (const keyClass of KEY_CLASSES) {
      for (const pattern of keyPatterns(keyClass)) {
        const key = pattern.replace(/<[^>]*>/g, 'some.Thing').replace(/\*/g, 'anything');
        const parts = key.split('.');
        const section = parts[0] as string;
        const name = parts.at(-1) as string;
        const middle = parts.slice(1, -1).join('.');
        for (const [head, last] of [
          [section, name],
          [section.toUpperCase(), name],
          [section, name.toUpperCase()],
        ]) {
          const text = `[${head}${middle === '' ? '' : ` "${middle}"`}]\n${last} = v\n`;
          const found = parseConfig(text).entries[0]?.key ?? '';
          if (/some\.thing$/i.test(key) && !pattern.includes('*')) continue;
          if (classOfKey(found) !== keyClass) wrong.push(`${pattern}: ${classOfKey(found)}, not ${keyClass}`);
        }
      }
    }
    expect([...new Set(wrong)]).toEqual([]);
  });

  it('classifies unlisted keys as redirecting', () => {
    expect(classOfKey('tig.bind')).toBe('redirect');
    expect(classOfKey('core.somethingnew')).toBe('redirect');
    expect(classOfKey('nosection')).toBe('redirect');
  });

  it('classifies variants that are in no list', () => {
    expect(classOfKey('filter.evil.one.clean')).toBe('exec');
    expect(classOfKey('credential.https://h/x.helper')).toBe('exec');
    expect(classOfKey('alias.lg.command')).toBe('exec');
    expect(classOfKey('pager.anything-at-all')).toBe('exec');
  });
});

describe('isHarmlessValue', () => {
  const yes: [string, string | undefined][] = [
    ['core.fsmonitor', 'true'],
    ['core.fsmonitor', undefined],
    ['pager.branch', 'false'],
    ['core.pager', 'less -FRX'],
    ['alias.co', 'checkout'],
    ['alias.lg', "log --oneline --format='%h %s'"],
    ['diff.tool', 'vimdiff'],
    ['submodule.x.update', 'rebase'],
    ['sendemail.work.from', 'a@b.c'],
  ];
  const no: [string, string | undefined][] = [
    ['core.fsmonitor', 'touch m;:'],
    ['core.pager', 'less;x'],
    ['core.pager', '/tmp/less'],
    ['alias.co', '!touch m'],
    ['alias.co', ' !touch m'],
    ['alias.co', '-c core.pager=x log'],
    ['alias.d', 'diff --ext-diff'],
    ['alias.s', 'submodule foreach ls'],
    ['alias.g', 'grep -Oevil x'],
    ['alias.x', 'rebase -x evil'],
    ['diff.tool', 'mine'],
    ['submodule.x.update', '!x'],
    ['sendemail.work.tocmd', 'x'],
    ['filter.x.clean', 'cat'],
    ['credential.helper', 'evil.sh'],
  ];
  it('accepts only values without effect', () => {
    for (const [key, value] of yes) expect([key, value, isHarmlessValue({ key, value })]).toEqual([key, value, true]);
    for (const [key, value] of no) expect([key, value, isHarmlessValue({ key, value })]).toEqual([key, value, false]);
  });
});

describe('isDotGitName', () => {
  it('sees .git as case-insensitive, HFS+ and NTFS file systems do', () => {
    const yes = [
      '.git',
      '.GIT',
      '.g\u200cit',
      '\ufeff.git',
      'git~1',
      'GIT~12',
      '.git ',
      '.git.',
      '.git::$INDEX_ALLOCATION',
    ];
    const more = ['.git:x', 'a\\..\\.git\\config', '.git\\hooks', '.ｇｉｔ'];
    for (const name of [...yes, ...more]) expect([name, isDotGitName(name)]).toEqual([name, true]);
  });
  it('accepts similar names', () => {
    for (const name of ['.github', '.gitignore', 'git', '.gitkeep', 'a~1.txt', 'git~', 'x.git', '..git'])
      expect([name, isDotGitName(name)]).toEqual([name, false]);
    expect(dotGitDepth('a/.Git/config')).toBe(2);
    expect(dotGitDepth('a/b')).toBe(0);
  });
});

describe('isHookName', () => {
  it('recognises hooks, not samples', () => {
    expect(['pre-commit', 'Post-Checkout', 'update.exe', 'reference-transaction'].every(isHookName)).toBe(true);
    expect(['pre-commit.sample', 'README', 'applypatch'].some(isHookName)).toBe(false);
  });
});

describe('rewriteConfig', () => {
  const hostile = `[core]
  repositoryformatversion = 0
  fsmonitor = touch m
  hooksPath = .husky
  editor = evil
[remote "origin"]
  url = https://user:ghp_token@github.com/a/b.git
  pushurl = ssh://git@github.com/a/b.git
  fetch = +refs/heads/*:refs/remotes/origin/*
  uploadpack = evil
[remote "bad"]
  url = ext::sh -c evil
[http "https://x:tok@h/"]
  extraHeader = AUTHORIZATION: basic abc
[include]
  path = ../evil
[credential]
  helper = store
[filter "lfs"]
  clean = evil %f
[branch "main"]
  remote = https://me:secret@h/x
[url "https://tok@h/"]
  insteadOf = gh:
[color]
  ui = auto
`;
  it('keeps harmless keys, drops and names the others, and shows no secret', () => {
    const { text, dropped } = rewriteConfig(hostile);
    const all = text + dropped.join('\n');
    for (const word of ['evil', 'ghp_', 'tok@', 'secret', 'basic', 'touch', '.husky'])
      expect(all.includes(word)).toBe(false);
    const keys = parseConfig(text).entries.map((entry) => `${entry.key}=${entry.value}`);
    expect(keys).toEqual([
      'core.repositoryformatversion=0',
      'remote.origin.url=https://github.com/a/b.git',
      'remote.origin.pushurl=ssh://git@github.com/a/b.git',
      'remote.origin.fetch=+refs/heads/*:refs/remotes/origin/*',
      'branch.main.remote=https://h/x',
      'color.ui=auto',
    ]);
    expect(dropped).toEqual([
      'core.fsmonitor',
      'core.hookspath',
      'core.editor',
      'user and token in remote.origin.url',
      'remote.origin.uploadpack',
      'remote.bad.url',
      'http.https://h/.extraheader',
      'include.path',
      'credential.helper',
      'filter.lfs.* (without the network in the copy)',
      'user and token in branch.main.remote',
      'url.https://h/.insteadof',
    ]);
  });
  it('drops everything below a line that git refuses', () => {
    const { text, dropped } = rewriteConfig('[color]\nui = auto\n]\n[user]\nname = x\n');
    expect(text).toBe('[color]\n\tui = auto\n');
    expect(dropped).toEqual(['everything from line 3 on: a line that is not a section, key or comment']);
  });
});
