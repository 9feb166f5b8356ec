import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Pty } from '../../../support/pty.ts';
import { mainJs, Scene } from '../../../support/scene.ts';
import { waitForOutput } from '../../../support/sees.ts';
import { startMessagesApi } from '../../../support/stand-in/messages-api.mjs';

const QUESTION = /Attach to it, stop and collect it, or leave it\? \[a\/s\/L\/\?\]/;

/** Asks the provider once it may go on, and ends with what came. */
const SCRIPT = `echo work > work.txt; echo ready; until [ -e /tmp/go ]; do sleep 0.2; done
node -e "fetch(process.env.ANTHROPIC_BASE_URL + '/api/hello').then((r) => console.log('answered ' + (r.status < 500)), (e) => console.log('no way', e.message))"`;

it('after a killed command, the next one offers to leave, attach to, or stop its agent', async () => {
  const standIn = await startMessagesApi({ turns: [] });
  await using scene = new Scene({ apiUrl: standIn.url, apiKey: 'sk-ant-REAL-CREDENTIAL-4e8b21' });
  const running = (id: string): string =>
    execFileSync('docker', ['ps', '-q', '--filter', `name=^run-claude-${id}$`], { encoding: 'utf8' });
  const killed = async (): Promise<string> => {
    const child = scene.spawn(['exec', scene.project, '--', 'sh', '-c', SCRIPT]);
    const gone = new Promise((resolve) => child.once('close', resolve));
    await waitForOutput(child, 'ready');
    child.kill('SIGKILL');
    await gone;
    const [session] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
    return session.id;
  };
  try {
    const first = await killed();
    {
      await using pty = scene.pty(['status', first]);
      await pty.see(QUESTION);
      pty.send('\r');
      expect(await pty.exited).toBe(120);
      expect(running(first)).not.toBe('');
    }
    {
      await using pty = scene.pty(['status', first]);
      let at = await pty.see(QUESTION);
      pty.send('?\r');
      at = await pty.see(/what was piped to it has ended; Ctrl-C stops it/, { from: at });
      at = await pty.see(QUESTION, { from: at });
      pty.send('a\r');
      await pty.see(/Attached\./);
      execFileSync('docker', ['exec', `run-claude-${first}`, 'touch', '/tmp/go']);
      await pty.see(/answered true/);
      await pty.see(/not audited yet {2}.*, agent ended with 0\r?\n/);
      expect(await pty.exited).toBe(0);
    }
    const second = await killed();
    {
      await using pty = scene.pty(['status', second]);
      await pty.see(QUESTION);
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

/** Says what reaches it: keys, sizes; reaches its provider at `w`, tries the clipboard at `c`, ends with 3 at `q`. */
const SCREEN = `process.stdin.setRawMode(true);
process.stdout.on('resize', () => console.log(['size', process.stdout.columns, process.stdout.rows].join(' ')));
process.stdin.on('data', (typed) => {
  console.log('keys', JSON.stringify(typed.toString()));
  if (typed.includes('c')) process.stdout.write('\\x1b]52;c;c3RvbGVu\\x07shown');
  if (typed.includes('q')) process.exit(3);
  if (typed.includes('w')) fetch(process.env.ANTHROPIC_BASE_URL + '/api/hello').then((r) => console.log('answered ' + (r.status < 500)), (e) => console.log('no way', e.message));
});
console.log('now it', 'listens');`;

it('an attached agent gets keys, window sizes and a network again, and the user can detach and attach again', async () => {
  const standIn = await startMessagesApi({ turns: [] });
  await using scene = new Scene({ apiUrl: standIn.url, apiKey: 'sk-ant-REAL-CREDENTIAL-4e8b21' });
  /** The command in a terminal of which the settings are shown afterwards. */
  const status = (id: string): Pty =>
    new Pty(['sh', '-c', `"$@"; echo "ended with $?"; stty -a`, 'sh', process.execPath, mainJs, 'status', id], {
      cwd: scene.project,
      env: scene.env,
    });
  const asBefore = async (pty: Pty, from: number): Promise<void> => {
    await pty.see(/(?<!-)isig icanon iexten echo /, { from });
  };
  try {
    {
      await using pty = scene.pty(['exec', '--yes', scene.project, '--', 'node', '-e', SCREEN]);
      await pty.see(/now it listens/);
      const [command] = readFileSync(`/proc/${pty.pid}/task/${pty.pid}/children`, 'utf8').trim().split(' ');
      process.kill(Number(command), 'SIGKILL');
      await pty.exited;
    }
    const [{ id }] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
    {
      await using pty = status(id);
      await pty.see(QUESTION);
      pty.send('a\r');
      let at = await pty.see(/Attached\..* Ctrl-P Ctrl-Q leaves it again/);
      // Drawn anew: the first terminal is closed.
      at = await pty.see(/size 80 24/, { from: at });
      pty.send('x');
      at = await pty.see(/keys "x"/, { from: at });
      pty.send('\x03');
      at = await pty.see(/keys "\\u0003"/, { from: at });
      pty.resize(100, 40);
      at = await pty.see(/size 100 40/, { from: at });
      pty.send('w');
      at = await pty.see(/answered true/, { from: at });
      pty.send('c');
      at = await pty.see(/shown/, { from: at });
      pty.send('\x10');
      at = await pty.see(/keys "\\u0010"/, { from: at });
      pty.send('\x11');
      at = await pty.see(/runs on: its agent was left as it is/, { from: at });
      at = await pty.see(/ended with 120/, { from: at });
      await asBefore(pty, at);
      expect(pty.output).not.toContain('c3RvbGVu');
      expect(pty.output).not.toContain('cleaning up');
    }
    {
      await using pty = status(id);
      await pty.see(QUESTION);
      pty.send('a\r');
      let at = await pty.see(/size 80 24/);
      pty.send('q');
      at = await pty.see(/agent ended with 3/, { from: at });
      at = await pty.see(/ended with 0/, { from: at });
      await asBefore(pty, at);
      expect(pty.output).not.toContain('was cut off');
    }
  } finally {
    await standIn.close();
  }
});
