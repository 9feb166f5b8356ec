import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../../src/core/host/package.ts';
import { findClaudeRelease } from '../../../../src/environment/image/claude-release.ts';
import { imageTag, readImageFiles } from '../../../../src/environment/image/files.ts';
import { readPins } from '../../../../src/environment/image/pins/pins.ts';
import { PINS_FILE, pinsOfImage, withClaudeRelease } from '../../../../src/environment/image/pins/pins-file.ts';
import type { PinnedPackage } from '../../../../src/environment/image/pins/pins-schema.ts';

const NAME = '@anthropic-ai/claude-code-linux-x64';
const hash = (letter: string): string => `sha512-${letter.repeat(86)}==`;

let dir: string;
let searchPath: string | undefined;
let warnings: string[];

/** The registry's answers, by what npm is asked about; nothing: it does not answer. */
function registrySays(answers: Readonly<Record<string, unknown>>): void {
  writeFileSync(path.join(dir, 'answers.json'), JSON.stringify(answers));
}
const asked = (): string[] =>
  existsSync(path.join(dir, 'asked')) ? readFileSync(path.join(dir, 'asked'), 'utf8').trim().split('\n') : [];

function find(wanted: string, refresh = false): Promise<PinnedPackage | undefined> {
  return findClaudeRelease(wanted, {
    arch: 'amd64',
    cacheDir: path.join(dir, 'cache'),
    refresh,
    tell: (event) => {
      if (event.kind === 'message') warnings.push(event.text);
    },
    signal: new AbortController().signal,
  });
}

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-release-'));
  warnings = [];
  const npm = path.join(dir, 'npm');
  writeFileSync(
    npm,
    `#!${process.execPath}
const { appendFileSync, readFileSync } = require('node:fs');
const answer = JSON.parse(readFileSync('${dir}/answers.json', 'utf8'))[process.argv[3]];
appendFileSync('${dir}/asked', process.argv[3] + '\\n');
if (answer === undefined) { console.log('{"error":{"code":"E404"}}'); process.exit(1); }
if (answer === 'silent') { console.error('npm error code ENOTFOUND'); process.exit(1); }
console.log(JSON.stringify(answer));
`,
  );
  chmodSync(npm, 0o755);
  searchPath = process.env['PATH'];
  process.env['PATH'] = dir;
});

afterEach(() => {
  process.env['PATH'] = searchPath;
  rmSync(dir, { recursive: true });
});

describe('a release of Claude Code that the user chose', () => {
  it('is the named version with the hash of the registry', async () => {
    registrySays({ [`${NAME}@2.0.1`]: { version: '2.0.1', 'dist.integrity': hash('a') } });
    expect(await find('2.0.1')).toEqual({ file: 'claude.tgz', name: NAME, version: '2.0.1', integrity: hash('a') });
  });

  it('is looked up as the latest once an hour, and again when asked to', async () => {
    registrySays({
      [NAME]: { version: '9.0.0', 'dist.integrity': hash('a') },
      [`${NAME}@9.0.0`]: { version: '9.0.0', 'dist.integrity': hash('a') },
    });
    expect((await find('latest'))?.version).toBe('9.0.0');
    registrySays({
      [NAME]: { version: '9.0.1', 'dist.integrity': hash('b') },
      [`${NAME}@9.0.1`]: { version: '9.0.1', 'dist.integrity': hash('b') },
    });
    expect((await find('latest'))?.version).toBe('9.0.0');
    expect((await find('latest', true))?.version).toBe('9.0.1');
    // One question each: the answer has the hash too.
    expect(asked()).toEqual([NAME, NAME]);
  });

  it('keeps the first hash of a version, whatever the registry says later', async () => {
    registrySays({ [`${NAME}@2.0.1`]: { version: '2.0.1', 'dist.integrity': hash('a') } });
    await find('2.0.1');
    registrySays({ [`${NAME}@2.0.1`]: { version: '2.0.1', 'dist.integrity': hash('b') } });
    expect((await find('2.0.1'))?.integrity).toBe(hash('a'));
  });

  it('is the latest of before, with a warning, while the registry does not answer', async () => {
    registrySays({
      [NAME]: { version: '9.0.0', 'dist.integrity': hash('a') },
      [`${NAME}@9.0.0`]: { version: '9.0.0', 'dist.integrity': hash('a') },
    });
    await find('latest');
    registrySays({ [NAME]: 'silent' });
    expect((await find('latest', true))?.version).toBe('9.0.0');
    expect(warnings.join()).toContain('did not answer');
  });

  it.each([
    ['a version that the registry does not have', '8.8.8', 'CLAUDE_VERSION'],
    ['the latest version without any answer', 'latest', 'CLAUDE_VERSION'],
    ['an answer with another version', '7.7.7', 'CLAUDE_VERSION'],
    ['an answer without a SHA-512 hash', '6.6.6', 'CLAUDE_VERSION'],
    ['a text that is not a version', '2.0.1 --registry=http://evil', 'USAGE'],
    ['a range', '^2.0.0', 'USAGE'],
  ])('is refused: %s', async (_, wanted, code) => {
    registrySays({
      [NAME]: 'silent',
      [`${NAME}@7.7.7`]: { version: '7.7.8', 'dist.integrity': hash('a') },
      [`${NAME}@6.6.6`]: { version: '6.6.6', 'dist.integrity': 'sha1-abc' },
    });
    await expect(find(wanted)).rejects.toMatchObject({ code });
  });

  it('is the pinned release without a question to the registry', async () => {
    const { claudeVersion } = readPins(readImageFiles(packageRoot));
    expect(await find(claudeVersion)).toBeUndefined();
    expect(asked()).toEqual([]);
  });
});

describe('the pins of an image', () => {
  const content = readFileSync(path.join(packageRoot, PINS_FILE));
  const tagOf = (pins: Buffer): string =>
    imageTag([{ path: PINS_FILE, content: pins }], { arch: 'amd64', toolchain: '' });

  it('do not depend on where an image is published', () => {
    const pins = JSON.parse(content.toString('utf8')) as object;
    const published = { repository: 'registry.example/run-claude', images: {} };
    expect(pinsOfImage(Buffer.from(JSON.stringify({ ...pins, published })))).toEqual(pinsOfImage(content));
  });

  it('name the chosen release, which gives the image another address', () => {
    const release = { file: 'claude.tgz', name: NAME, version: '9.0.0', integrity: hash('a') };
    const changed = withClaudeRelease(content, 'amd64', release);
    const pins = readPins([{ path: PINS_FILE, content: changed }]);
    expect(pins.claudeVersion).toBe('9.0.0');
    expect(pins.packages['amd64']?.at(-1)).toEqual(release);
    expect(tagOf(changed)).not.toBe(tagOf(pinsOfImage(content)));
  });
});
