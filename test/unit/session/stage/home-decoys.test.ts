import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { searchContents } from '../../../../src/core/secrets/search-contents.ts';
import { SearchedValues } from '../../../../src/core/secrets/value-search.ts';
import type { PlaceEntry } from '../../../../src/engines/engine/place.ts';
import { sessionDecoys } from '../../../../src/session/record/secrets/home-decoys.ts';
import { homeDecoys } from '../../../../src/session/stage/home/home-decoys.ts';

let sessionDir: string;
beforeEach(() => {
  sessionDir = mkdtempSync(path.join(tmpdir(), 'run-claude-home-decoys-'));
  onTestFinished(() => rmSync(sessionDir, { recursive: true, force: true }));
});

const textsOf = (entries: readonly PlaceEntry[]): Record<string, string> =>
  Object.fromEntries(
    entries.flatMap(({ path: file, content }) =>
      content instanceof Uint8Array ? [[file, Buffer.from(content).toString()]] : [],
    ),
  );

describe("the decoys of the agent's home", () => {
  it('are a key, a cloud credential and a token, which only their user can read, and are recorded', () => {
    const entries = homeDecoys(sessionDir, []);
    expect(entries.map(({ path: file, mode }) => `${file} ${mode.toString(8)}`)).toEqual([
      '.ssh 700',
      '.ssh/id_ed25519 600',
      '.aws 700',
      '.aws/credentials 600',
      '.git-credentials 600',
    ]);
    const texts = textsOf(entries);
    expect(texts['.aws/credentials']).toMatch(
      /^\[deploy\]\naws_access_key_id = AKIA[A-Z2-7]{16}\naws_secret_access_key = [\w+/]{40}\n$/,
    );
    expect(texts['.git-credentials']).toMatch(/^https:\/\/deploy:ghp_\w{36}@github\.com\n$/);
    const decoys = sessionDecoys(sessionDir);
    expect(decoys.map(({ path: file }) => file)).toEqual([
      '~/.ssh/id_ed25519',
      '~/.aws/credentials',
      '~/.git-credentials',
    ]);
    const values = new SearchedValues(decoys.map(({ value }) => value));
    const found = Object.values(texts).map((text) => [...searchContents(values, Buffer.from(text))]);
    expect(found).toEqual([[0], [1], [2]]);
  });

  it('have a key that ssh reads, and that another session does not have', () => {
    const key = textsOf(homeDecoys(sessionDir, []))['.ssh/id_ed25519'] ?? '';
    const file = path.join(sessionDir, 'key');
    writeFileSync(file, key, { mode: 0o600 });
    expect(execFileSync('ssh-keygen', ['-y', '-P', '', '-f', file], { encoding: 'utf8' })).toMatch(/^ssh-ed25519 AAAA/);
    const values = new SearchedValues([key]);
    rmSync(path.join(sessionDir, 'home-decoys.json'));
    const other = textsOf(homeDecoys(sessionDir, []))['.ssh/id_ed25519'] ?? '';
    expect([...searchContents(values, Buffer.from(other))]).toEqual([]);
    expect([...searchContents(values, Buffer.from(key.replaceAll('\n', '\\n')))]).toEqual([0]);
  });

  it('are the same when the session goes on, and leave out what is staged there', () => {
    const first = textsOf(homeDecoys(sessionDir, []));
    const again = textsOf(homeDecoys(sessionDir, [{ path: '.aws/config' }]));
    expect(Object.keys(again)).toEqual(['.ssh/id_ed25519', '.git-credentials']);
    expect(again['.ssh/id_ed25519']).toBe(first['.ssh/id_ed25519']);
    expect(again['.git-credentials']).toBe(first['.git-credentials']);
    expect(sessionDecoys(sessionDir)).toHaveLength(2);
  });
});
