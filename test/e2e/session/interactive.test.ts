import { expect, it } from 'vitest';
import { Pty } from '../../support/pty.ts';
import { mainJs, Scene } from '../../support/scene.ts';
import { startMessagesApi } from '../../support/stand-in/messages-api.mjs';

// Claude draws only the cells that differ, so words are waited for that share no letter with what was there before.
it('Claude Code in a terminal: prompt, tool, resize, Ctrl-C, exit, review; the terminal is as before', async () => {
  const standIn = await startMessagesApi({
    turns: [
      { text: 'On it.', tools: [{ name: 'Bash', input: { command: 'echo typed >> README.md', description: 'step' } }] },
      { text: 'QXQXQX' },
      { text: `WQWQWQ ${'an answer that nobody will read to its end '.repeat(40)}`, delayMs: 1000 },
    ],
  });
  await using scene = new Scene({ apiUrl: standIn.url, apiKey: 'sk-ant-REAL-CREDENTIAL-9c1f7a' });
  const words = [process.execPath, mainJs, '--copy-workspace', '--yes', scene.project];
  const around = 'stty -g | sed s/^/before:/; "$0" "$@"; status=$?; stty -g | sed s/^/after:/; exit $status';
  await using pty = new Pty(['sh', '-c', around, ...words], {
    cwd: scene.project,
    env: scene.env,
    columns: 120,
    rows: 40,
  });
  try {
    // Claude asks nothing first: no onboarding, no trust, no key.
    await pty.see(/bypass permissions on/);
    await pty.enter('do it');
    await pty.see(/QXQXQX/);
    const from = pty.output.length;
    pty.resize(70, 30);
    // Claude draws its frame anew, as wide as the terminal is now.
    await pty.see(/─{70}/, { from });
    expect(pty.output.slice(from)).not.toMatch(/─{71}/);
    await pty.enter('again');
    const again = await pty.see(/WQWQWQ/, { from });
    pty.send('\u0003');
    await pty.see(/nterr|rrupt|What sh|ould Cl|instead/, { from: again });
    await pty.enter('/exit');
    await pty.see(/To go on in this session: run-claude resume \S+ [\s\S]*Session ended\./);
    await pty.see(/\[y\/N\/d\/s\/l\/(?:r\/)?\?\]/);
    pty.send('y\r');
    expect(await pty.exited).toBe(0);
  } finally {
    await standIn.close();
  }
  expect(scene.git('status', '--porcelain')).toBe(' M README.md\n');
  const [{ stage }] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  expect(stage).toBe('applied');
  const [, before, after] = /before:(\S+)[\s\S]*after:(\S+)/.exec(pty.output) ?? [];
  expect(after).toBe(before);
  // The whole screen, not the other one; a cursor; no reports of mouse or paste.
  const last = (mode: number): string | undefined =>
    [...pty.output.matchAll(new RegExp(`\\u001b\\[\\?${mode}([hl])`, 'g'))].at(-1)?.[1];
  expect([last(25) ?? 'h', last(1049) ?? 'l', last(2004) ?? 'l', last(1000) ?? 'l']).toEqual(['h', 'l', 'l', 'l']);
  expect(pty.output).not.toContain('did not reach your terminal');
});
