import { afterAll, expect, it } from 'vitest';
import { mcpCommand } from '../../../../../src/cli/commands/mcp/mcp.ts';
import { GitScene } from '../../../../support/review/git-scene.ts';

const scene = new GitScene();
afterAll(() => scene[Symbol.dispose]());

const run = (...words: readonly string[]) => {
  const context = scene.context();
  const line = { kind: 'command', name: 'mcp', options: new Map<string, string[]>(), words, rest: [] } as const;
  return { context, status: mcpCommand(line, context) };
};

it('a subcommand runs in its file', async () => {
  const { context, status } = run('list');
  expect(await status).toBe(0);
  expect(context.told).toEqual(['There are no MCP servers. Add one with: run-claude mcp add NAME --url URL']);
});

it.each([
  [[], 'mcp needs a subcommand'],
  [['start\u001b[2J'], "mcp has no subcommand 'start"],
])('%j is refused with the subcommands there are', async (words, message) => {
  const { status } = run(...words);
  await expect(status).rejects.toMatchObject({
    message: expect.stringContaining(message),
    hint: expect.stringContaining('serve, list, add, remove, login, logout'),
  });
  await expect(status).rejects.not.toMatchObject({ message: expect.stringContaining('\u001b') });
});
