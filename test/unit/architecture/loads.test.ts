import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');

/** What Node loads before the first line of a module runs: what `import()` names is loaded later. */
function namedBy(file: string): readonly string[] {
  const { module } = parseSync(file, readFileSync(path.join(root, file), 'utf8'));
  return [
    ...module.staticImports.filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType)),
    ...module.staticExports
      .flatMap(({ entries }) => entries)
      .flatMap(({ moduleRequest, isType }) => (moduleRequest === null || isType ? [] : [{ moduleRequest }])),
  ].map(({ moduleRequest }) => moduleRequest?.value ?? '');
}

function loadedBy(entry: string, loaded = new Set<string>()): ReadonlySet<string> {
  if (loaded.has(entry)) return loaded;
  loaded.add(entry);
  for (const name of namedBy(entry)) {
    if (name.startsWith('.')) loadedBy(path.posix.join(path.posix.dirname(entry), name), loaded);
  }
  return loaded;
}

/** What they import from elsewhere. */
const packagesOf = (files: readonly string[]): readonly string[] =>
  files.flatMap(namedBy).filter((name) => !name.startsWith('.'));

describe('what a quick command loads', () => {
  it('has no credential, where it is the help', () => {
    const loaded = [...loadedBy('src/main.ts')];
    expect(loaded).toContain('src/cli/grammar/parse-command-line.ts');
    expect(
      loaded.filter((file) => /^src\/(engines|audit|session\/(?!plan|record)|workspace\/scan)\//.test(file)),
    ).toEqual([]);
    expect(loaded).not.toContain('src/agents/claude/credentials/credentials.ts');
  });

  it('has no rule of the audit and no question, where it is the list of sessions', () => {
    const loaded = [...loadedBy('src/cli/commands/sessions.ts')];
    expect(loaded).toContain('src/review/choices/build-review.ts');
    expect(loaded.filter((file) => /^src\/(audit|engines)\//.test(file))).toEqual([]);
    expect(loaded).not.toContain('src/review/screen/ask/ask-review.ts');
  });

  it.each([
    ['src/cli/version.ts'],
    ['src/cli/commands/status.ts'],
    ['src/cli/commands/review/diff.ts'],
    ['src/cli/commands/running/log.ts'],
  ])('has neither rules nor engine, where it shows what a session left: %s', (entry) => {
    const loaded = [...loadedBy(entry)];
    expect(loaded.filter((file) => /^src\/(audit\/rules|engines|workspace\/collector)\//.test(file))).toEqual([]);
    expect(packagesOf(loaded)).not.toContain('zod');
  });

  it('has no rule of the audit and no schema, where it starts a session', () => {
    const loaded = [...loadedBy('src/session/start/start-session.ts'), ...loadedBy('src/cli/commands/run.ts')];
    expect(loaded).toContain('src/session/run.ts');
    expect(loaded.filter((file) => /^src\/audit\/rules\//.test(file))).toEqual([]);
    expect(packagesOf(loaded)).not.toContain('zod');
  });

  it('has no review, where it is a batch', () => {
    expect([...loadedBy('src/cli/commands/batch.ts')]).not.toContain('src/cli/batch/review-sessions.ts');
  });
});
