import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');

/** Files that Node loads before the first line of a module runs: what `import()` names is loaded later. */
function loadedBy(entry: string, loaded = new Set<string>()): ReadonlySet<string> {
  if (loaded.has(entry)) return loaded;
  loaded.add(entry);
  const { module } = parseSync(entry, readFileSync(path.join(root, entry), 'utf8'));
  const named = [
    ...module.staticImports.filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType)),
    ...module.staticExports
      .flatMap(({ entries }) => entries)
      .flatMap(({ moduleRequest, isType }) => (moduleRequest === null || isType ? [] : [{ moduleRequest }])),
  ].map(({ moduleRequest }) => moduleRequest?.value ?? '');
  for (const name of named) {
    if (name.startsWith('.')) loadedBy(path.posix.join(path.posix.dirname(entry), name), loaded);
  }
  return loaded;
}

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
    expect(loaded).not.toContain('src/review/screen/ask-review.ts');
  });

  it('has no review, where it is a batch', () => {
    expect([...loadedBy('src/cli/commands/batch.ts')]).not.toContain('src/cli/batch/review-sessions.ts');
  });
});
