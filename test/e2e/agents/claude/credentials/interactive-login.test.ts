import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Pty } from '../../../../support/pty.ts';
import { mainJs, Scene } from '../../../../support/scene.ts';
import { startMessagesApi } from '../../../../support/stand-in/messages-api.mjs';

const TOKEN = 'sk-ant-oat01-TEST-INTERACTIVE-41c7';

it('Claude Code in a terminal with a login of claude.ai works with a placeholder, without another login', async () => {
  const find =
    'grep -rasl INTERACTIVE[-]41c7 /home/agent /run /tmp /proc/[0-9]*/environ > found.txt; echo looked >> found.txt';
  const standIn = await startMessagesApi({
    turns: [
      { text: 'On it.', tools: [{ name: 'Bash', input: { command: find, description: 'step' } }] },
      { text: 'QXQXQX' },
    ],
    accepts: (credential) => credential === TOKEN,
  });
  await using scene = new Scene({ apiUrl: standIn.url });
  mkdirSync(path.join(scene.home, '.claude'));
  const expiresAt = Date.now() + 3_600_000;
  const claudeAiOauth = { accessToken: TOKEN, refreshToken: 'never-inside', expiresAt, scopes: ['user:inference'] };
  writeFileSync(path.join(scene.home, '.claude/.credentials.json'), JSON.stringify({ claudeAiOauth }), { mode: 0o600 });
  const words = [process.execPath, mainJs, '--copy-workspace', '--yes', '--auto-apply', scene.project];
  await using pty = new Pty(words, { cwd: scene.project, env: scene.env, columns: 120, rows: 40 });
  try {
    await pty.see(/bypass permissions on/);
    await pty.enter('do it');
    await pty.see(/QXQXQX/);
    await pty.enter('/exit');
    expect(await pty.exited).toBe(0);
  } finally {
    await standIn.close();
  }
  expect(readFileSync(path.join(scene.project, 'found.txt'), 'utf8')).toBe('looked\n');
  expect(standIn.requests.some(({ headers }) => headers['authorization'] === `Bearer ${TOKEN}`)).toBe(true);
  expect(pty.output).not.toContain(TOKEN);
});
