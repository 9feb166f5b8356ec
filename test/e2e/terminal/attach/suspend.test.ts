import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Pty } from '../../../support/pty.ts';
import { mainJs, Scene } from '../../../support/scene.ts';
import { waitForOutput } from '../../../support/sees.ts';
import { startMessagesApi } from '../../../support/stand-in/messages-api.mjs';

const CTRL_Z = '\u001a';

/** An interactive shell with job control, as a user has it. */
async function shell(scene: Scene, columns = 100): Promise<Pty> {
  const pty = new Pty(['bash', '--norc', '--noprofile', '-i'], {
    cwd: scene.project,
    env: { ...scene.env, PS1: 'shell-$? ', BASH_SILENCE_DEPRECATION_WARNING: '1' },
    columns,
    rows: 30,
  });
  await pty.see(/shell-0 $/);
  return pty;
}

const command = (scene: Scene, ...words: readonly string[]): string =>
  [process.execPath, mainJs, ...words, scene.project].map((word) => `'${word}'`).join(' ');

it('Ctrl-Z in Claude’s screen gives the terminal to the shell, and fg brings the screen back', async () => {
  const standIn = await startMessagesApi({ turns: [{ text: 'QXQXQX' }, { text: 'WVWVWV' }] });
  await using scene = new Scene({ apiUrl: standIn.url, apiKey: 'sk-ant-REAL-CREDENTIAL-9c1f7a' });
  try {
    await using pty = await shell(scene);
    pty.send(`${command(scene, '--copy-workspace', '--yes')}\r`);
    await pty.see(/bypass permissions on/);
    await pty.enter('first');
    let at = await pty.see(/QXQXQX/);
    // A message in between is printed at the end.
    expect((await scene.run(['network', 'allow', 'example.org'])).status).toBe(0);
    await sleep(2000);
    expect(pty.output).not.toContain('allowed example.org');
    pty.send(CTRL_Z);
    at = await pty.see(/Stopped[^\n]*\r?\n[^\n]*shell-\d+ /, { from: at });
    // The terminal is the shell's: modes, echo, cursor, no reports of mouse or paste.
    pty.send('stty -a; echo "typed$((1+1))"\r');
    at = await pty.see(/(?<!-)isig icanon iexten echo /, { from: at });
    at = await pty.see(/typed2/, { from: at });
    const last = (mode: number): string | undefined =>
      [...pty.output.slice(0, at).matchAll(new RegExp(`\\u001b\\[\\?${mode}([hl])`, 'g'))].at(-1)?.[1];
    expect([last(25) ?? 'h', last(1049) ?? 'l', last(1000) ?? 'l', last(1004) ?? 'l']).toEqual(['h', 'l', 'l', 'l']);
    pty.resize(80, 30);
    pty.send('fg\r');
    // Drawn anew, as wide as the window is now; what was on it before is there.
    at = await pty.see(/─{80}/, { from: at });
    await pty.see(/bypass permissions on/, { from: at });
    await sleep(1500);
    await pty.enter('second');
    at = await pty.see(/WVWVWV/, { from: at });
    await pty.enter('/exit');
    at = await pty.see(/\d\d:\d\d:\d\d network: allowed example\.org/, { from: at });
    at = await pty.see(/shell-0 /, { from: at });
    pty.send('stty -a\r');
    await pty.see(/(?<!-)isig icanon iexten echo /, { from: at });
  } finally {
    await standIn.close();
  }
});

/** Of a session that runs in the shell: a program, then a shell inside with jobs of its own. */
it('a program stopped without Ctrl-Z is continued, one stopped by it becomes a job of the shell, and jobs inside stay inside', async () => {
  await using scene = new Scene();
  await using pty = await shell(scene);
  const script = `echo begin; kill -STOP $$; echo woken; exec bash --norc -i`;
  pty.send(`${command(scene, 'exec', '--yes')} -- sh -c '${script}'\r`);
  let at = await pty.see(/woken/, { from: await pty.see(/^begin/m) });
  at = await pty.see(/\$ $/, { from: at });
  // The inner shell's own job: ours goes on.
  pty.send('cat\r');
  at = await pty.see(/cat\s/, { from: at });
  await sleep(500);
  pty.send(CTRL_Z);
  at = await pty.see(/Stopped\s+cat/, { from: at });
  pty.send('echo inner$((1+1)); kill %1; exec cat\r');
  at = await pty.see(/inner2/, { from: at });
  await sleep(1000);
  // Without a shell above it inside, the same key stops the session as a whole, more than once.
  for (const word of ['one', 'two']) {
    pty.send(CTRL_Z);
    at = await pty.see(/Stopped[^\n]*\r?\n[^\n]*shell-\d+ /, { from: at });
    pty.send('fg\r');
    at = await pty.see(/fg\s/, { from: at });
    await sleep(1000);
    pty.send(`${word}\r`);
    at = await pty.see(new RegExp(`${word}\\s+${word}`), { from: at });
  }
  // Suspended, it can be stopped from elsewhere.
  pty.send(CTRL_Z);
  at = await pty.see(/Stopped[^\n]*\r?\n[^\n]*shell-\d+ /, { from: at });
  const stopped = await scene.run(['stop']);
  expect([stopped.status, stopped.stderr]).toEqual([
    0,
    expect.stringMatching(/is stopped\. It has no changes to apply/),
  ]);
  pty.send('wait %1; echo "status $?"\r');
  await pty.see(/Exit 143|status 143/, { from: at });
});

it('stop ends a running session from another terminal and keeps its changes, whether or not its command still runs', async () => {
  await using scene = new Scene();
  const work = ['exec', scene.project, '--', 'sh', '-c', 'echo work >> README.md; echo ready; sleep 1000'];
  const begin = async (): Promise<ReturnType<Scene['spawn']>> => {
    const child = scene.spawn(work);
    await waitForOutput(child, 'ready');
    return child;
  };
  const sessions = async () =>
    JSON.parse((await scene.run(['sessions', '--json'])).stdout) as { id: string; stage: string }[];
  const none = await scene.run(['stop']);
  expect([none.status, none.stderr]).toEqual([2, expect.stringContaining('is running')]);

  const first = await begin();
  const second = await begin();
  const ends = [first, second].map((child) => new Promise((resolve) => child.once('close', resolve)));
  const ids = (await sessions()).map(({ id }) => id);
  const both = await scene.run(['stop']);
  expect(both.status).toBe(2);
  for (const id of ids) expect(both.stderr).toContain(id);

  const [newer = '', older = ''] = ids;
  const one = await scene.run(['stop', older]);
  expect([one.status, one.stderr]).toEqual([0, expect.stringContaining(`run-claude apply ${older}`)]);
  expect(await ends[0]).toBe(143);
  second.kill('SIGKILL');
  await ends[1];
  const other = await scene.run(['stop']);
  expect([other.status, other.stderr]).toEqual([0, expect.stringContaining(`run-claude apply ${newer}`)]);
  expect((await sessions()).map(({ stage }) => stage)).toEqual(['pending', 'pending']);
  expect((await scene.run(['status', older])).stdout).toContain('stopped: run-claude stop');
  const again = await scene.run(['stop', older]);
  expect([again.status, again.stderr]).toEqual([125, expect.stringContaining('is not running')]);
  expect(execFileSync('docker', ['ps', '-q', '--filter', `name=run-claude-${older}`], { encoding: 'utf8' })).toBe('');
  expect((await scene.run(['apply', '--yes', newer])).status).toBe(0);
});
