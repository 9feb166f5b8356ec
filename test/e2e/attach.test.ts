import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../scene.ts';
import { sees } from '../sees.ts';
import { startMessagesApi } from '../stand-in/messages-api.mjs';

const QUESTION = /Attach to it, stop and collect it, or leave it\? \[a\/s\/L\/\?\]/;

/** Asks the provider once it may go on, and ends with what came. */
const SCRIPT = `echo work > work.txt; echo ready; until [ -e /tmp/go ]; do sleep 0.2; done
node -e "fetch(process.env.ANTHROPIC_BASE_URL + '/api/hello').then((r) => console.log('answered', r.status < 500), (e) => console.log('no way', e.message))"`;

it('a killed command: the next one offers to leave, attach to, or stop its agent', async () => {
  const standIn = await startMessagesApi({ turns: [] });
  await using scene = new Scene({ apiUrl: standIn.url, apiKey: 'sk-ant-REAL-CREDENTIAL-4e8b21' });
  const running = (id: string): string =>
    execFileSync('docker', ['ps', '-q', '--filter', `name=^run-claude-${id}$`], { encoding: 'utf8' });
  const killed = async (): Promise<string> => {
    const child = scene.spawn(['exec', scene.project, '--', 'sh', '-c', SCRIPT]);
    const gone = new Promise((resolve) => child.once('close', resolve));
    await sees(child, 'ready');
    child.kill('SIGKILL');
    await gone;
    const [session] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
    return session.id;
  };
  try {
    const first = await killed();
    {
      await using pty = scene.pty(['status', first]);
      await pty.see(QUESTION, { timeoutMs: 60_000 });
      pty.send('\r');
      expect(await pty.exited).toBe(120);
      expect(running(first)).not.toBe('');
    }
    {
      await using pty = scene.pty(['status', first]);
      let at = await pty.see(QUESTION, { timeoutMs: 60_000 });
      pty.send('?\r');
      at = await pty.see(/no key reaches it/, { from: at });
      at = await pty.see(QUESTION, { from: at });
      pty.send('a\r');
      await pty.see(/Attached\./);
      execFileSync('docker', ['exec', `run-claude-${first}`, 'touch', '/tmp/go']);
      await pty.see(/answered true/);
      await pty.see(/pending, agent ended with 0\r?\n/);
      expect(await pty.exited).toBe(0);
    }
    const second = await killed();
    {
      await using pty = scene.pty(['status', second]);
      await pty.see(QUESTION, { timeoutMs: 60_000 });
      pty.send('s\r');
      await pty.see(/was cut off\. Collecting/);
      await pty.see(/stopped: run-claude was killed/);
      expect(await pty.exited).toBe(0);
    }
    expect([running(first), running(second)]).toEqual(['', '']);
    expect((await scene.run(['apply', '--yes', first])).status).toBe(0);
    expect(existsSync(path.join(scene.project, 'work.txt'))).toBe(true);
  } finally {
    await standIn.close();
  }
});
