import { Terminal } from '@xterm/headless';
import { expect, it } from 'vitest';
import { Scene } from '../../support/scene.ts';
import { startMessagesApi } from '../../support/stand-in/messages-api.mjs';

/** The rows of a terminal that got these bytes, blank ones left out. */
async function rowsOf(bytes: string): Promise<string[]> {
  const terminal = new Terminal({ cols: 80, rows: 24, allowProposedApi: true, scrollback: 1000 });
  await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  const { active } = terminal.buffer;
  const rows = Array.from({ length: active.length }, (_, y) => active.getLine(y)?.translateToString(true) ?? '');
  return rows.filter((row) => row !== '');
}

it('-p on a terminal shows one status line, removes it at the end, and prints how to continue the session', async () => {
  const command = 'echo more >> README.md; sleep 1';
  // The agent runs until the line was seen with everything in it, however slow the machine is.
  let end = (): void => undefined;
  const after = new Promise<void>((resolve) => {
    end = resolve;
  });
  const standIn = await startMessagesApi({
    turns: [
      { text: 'On it.', tools: [{ name: 'Bash', input: { command, description: 'step' } }] },
      { text: 'QXQXQX', after },
    ],
  });
  await using scene = new Scene({ apiUrl: standIn.url, apiKey: 'sk-ant-REAL-CREDENTIAL-9c1f7a' });
  try {
    await using pty = scene.pty(['--yes', scene.project, '-p', 'do it']);
    await pty.see(/To see its changes as they happen: run-claude diff --follow \S+/);
    await pty.see(/Running for [\d min]+ s, .*\d requests?, Bash, 1 file\b/);
    // Neither shown nor an answer to the question that comes.
    pty.send('typed ahead\ry\r');
    await pty.see(/Running for [\d min]+ s, .*\d requests?, Bash, 1 file: README\.md/);
    end();
    const at = await pty.see(/QXQXQX/);
    await pty.see(/\[y\/N\/d\/s\/l\/(?:r\/)?\?\]/, { from: at });
    const rows = await rowsOf(pty.output);
    expect(rows.filter((row) => row.includes('Running for'))).toEqual([]);
    expect(pty.output).not.toContain('typed ahead');
    expect(rows).toContain('QXQXQX');
    expect(rows.filter((row) => row.includes('diff --follow'))).toHaveLength(1);
    pty.send('n\r');
    await pty.see(/To continue this session: run-claude resume \S+/, { from: at });
    expect(await pty.exited).toBe(120);
  } finally {
    end();
    await standIn.close();
  }
});
