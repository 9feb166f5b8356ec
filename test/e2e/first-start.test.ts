import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Pty } from '../support/pty.ts';
import { mainJs, Scene } from '../support/scene.ts';

it('the first start in a project asks, explains the question and how to avoid it, and leaves nothing after a no', async () => {
  await using scene = new Scene();
  const words = [process.execPath, mainJs, '--copy-workspace', '--shell', scene.project, '--', '-c', 'exit 7'];
  const start = (): Pty => new Pty(words, { cwd: scene.project, env: scene.env, columns: 80, rows: 24 });
  const sessions = (): string[] => readdirSync(path.join(scene.env['XDG_STATE_HOME'] ?? '', 'run-claude/sessions'));
  {
    await using pty = start();
    await pty.see(/first session of this project\.[\s\S]*--yes[\s\S]*Start the session\? \[Y\/n\]:/);
    await pty.enter('n');
    expect(await pty.exited).toBe(130);
    await pty.see(/The session was not started/);
    expect(sessions()).toEqual([]);
  }
  {
    await using pty = start();
    await pty.see(/Start the session\? \[Y\/n\]:/);
    await pty.enter('y');
    expect(await pty.exited).toBe(7);
  }
  await using again = start();
  expect(await again.exited).toBe(7);
  expect(again.output).not.toContain('Start the session?');
});
