import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { configCommand } from '../../../../src/cli/commands/config.ts';

it('config lists the files that it read, and those that do not exist', async () => {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-config-')));
  try {
    const [project, configDir] = [path.join(dir, 'project'), path.join(dir, 'config')];
    mkdirSync(project);
    mkdirSync(configDir);
    writeFileSync(path.join(project, '.run-claude.toml'), 'memory = "1g"\n');
    const run = async (...options: string[]): Promise<string> => {
      let output = '';
      const context = { env: {}, cwd: project, places: { configDir }, tell: () => undefined };
      const line = { words: [], options: new Map(options.map((name) => [name, ['']])) };
      await configCommand(line as never, { ...context, write: (text: string) => (output += text) } as never);
      return output;
    };
    expect(await run()).toMatch(
      new RegExp(
        [
          '^memory +1g +\\.run-claude\\.toml$',
          '[\\s\\S]*^Files, a later one overrides an earlier one:',
          `does not exist +${configDir}/config\\.toml`,
          `read +${project}/\\.run-claude\\.toml`,
          `does not exist +${project}/\\.run-claudeignore`,
        ].join('\n'),
        'm',
      ),
    );
    writeFileSync(path.join(configDir, 'config.toml'), '');
    expect(JSON.parse(await run('json')).files).toEqual([
      { path: path.join(configDir, 'config.toml'), state: 'read' },
      { path: path.join(project, '.run-claude.toml'), state: 'read' },
      { path: path.join(project, '.run-claudeignore'), state: 'absent' },
    ]);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
