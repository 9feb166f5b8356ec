import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Pty } from '../../../support/pty.ts';
import { mainJs, Scene } from '../../../support/scene.ts';

const START = /Start the session\? \[Y\/n\/\?\]:/;

it('the first start in a project asks, explains the question and how to avoid it, and leaves nothing after a no', async () => {
  await using scene = new Scene();
  const words = [process.execPath, mainJs, '--copy', '--mask=no-such-name', '--shell', scene.project];
  words.push('--', '-c', 'exit 7');
  const start = (): Pty => new Pty(words, { cwd: scene.project, env: scene.env, columns: 80, rows: 24 });
  const sessions = (): string[] => readdirSync(path.join(scene.env['XDG_STATE_HOME'] ?? '', 'run-claude/sessions'));
  {
    await using pty = start();
    await pty.see(/first session of this project\.[\s\S]*--yes[\s\S]*Start the session\? \[Y\/n\/\?\]:/);
    await pty.see(/copied {6}\d+ files, \d/);
    await pty.see(/no-such-name: nothing in the project matches it/);
    await pty.enter('?');
    const at = await pty.see(
      /Mounted in the container:[\s\S]*at\s+\/workspace[\s\S]*Data of the agent[\s\S]*data\/run-claude\/projects\//,
    );
    await pty.see(START, { from: at });
    await pty.enter('n');
    expect(await pty.exited).toBe(130);
    await pty.see(/The session was not started/);
    expect(sessions()).toEqual([]);
  }
  {
    await using pty = start();
    await pty.see(START);
    await pty.enter('y');
    expect(await pty.exited).toBe(7);
  }
  await using again = start();
  expect(await again.exited).toBe(7);
  expect(again.output).not.toContain('Start the session?');
});

const ON_A_COPY = /On a copy, or on your own files\? \[C\/o\/\?\]:/;

/** A bare start, whose shell writes into the project. */
function bareStart(scene: Scene, ...options: string[]): Pty {
  const words = [process.execPath, mainJs, ...options, '--shell', scene.project, '--', '-c', 'echo new > new.txt'];
  return new Pty(words, { cwd: scene.project, env: scene.env, columns: 80, rows: 24 });
}

it('the first bare start on a terminal asks for the mode, Enter is a copy, and the answer holds there alone', async () => {
  await using scene = new Scene();
  const config = path.join(scene.env['XDG_CONFIG_HOME'] ?? '', 'run-claude/config.toml');
  const file = path.join(scene.project, 'new.txt');
  {
    await using pty = bareStart(scene);
    let at = await pty.see(ON_A_COPY);
    await pty.enter('?');
    at = await pty.see(/The answer is kept in[\s\S]*config\.toml/, { from: at });
    at = await pty.see(ON_A_COPY, { from: at });
    await pty.enter('yes');
    at = await pty.see(/'yes' is not an answer here\./, { from: at });
    await pty.see(ON_A_COPY, { from: at });
    pty.send('\x03');
    expect(await pty.exited).toBe(130);
    expect(existsSync(config)).toBe(false);
  }
  mkdirSync(path.dirname(config), { recursive: true });
  const dotfiles = path.join(scene.home, 'dotfiles.toml');
  writeFileSync(dotfiles, '# mine\nmemory = "4g"\n');
  symlinkSync(dotfiles, config);
  {
    await using pty = bareStart(scene);
    await pty.see(ON_A_COPY);
    pty.send('\r');
    await pty.see(/works on {4}a copy[\s\S]*Start the session/);
    await pty.enter('y');
    await pty.see(/Apply changes to/);
    expect(existsSync(file)).toBe(false);
    await pty.enter('n');
    await pty.exited;
  }
  const table = `[project.${JSON.stringify(scene.project)}]`;
  expect(readFileSync(dotfiles, 'utf8')).toBe(`# mine\nmemory = "4g"\n\n${table}\nmode = "copy"\n`);
  expect((await scene.run(['config', scene.project])).stdout).toMatch(/^mode +copy +.*\[project\./m);
  {
    await using pty = bareStart(scene);
    await pty.see(/works on {4}a copy/);
    await pty.see(/Apply changes to/);
    expect(pty.output).not.toMatch(ON_A_COPY);
    await pty.enter('n');
    await pty.exited;
  }
  // Without a terminal the default counts, whatever was answered.
  const words = ['--shell', scene.project, '--', '-c', 'echo new > new.txt'];
  expect((await scene.run(words)).stderr).toContain('works on    the project itself');
  expect(readFileSync(file, 'utf8')).toBe('new\n');
});

it.each([['--bind'], ['--copy'], ['--yes']])('%s is its own choice: no question for the mode', async (option) => {
  await using scene = new Scene();
  await using pty = bareStart(scene, option, '--network', 'none');
  await pty.see(option === '--yes' ? /works on/ : START);
  expect(pty.output).not.toMatch(ON_A_COPY);
  pty.send('\x03');
  await pty.exited;
});

it('own files: the answer o works on the project, and is kept', async () => {
  await using scene = new Scene();
  await using pty = bareStart(scene);
  await pty.see(ON_A_COPY);
  await pty.enter('o');
  await pty.see(/mode = "bind"[\s\S]*works on {4}the project itself/);
  await pty.see(START);
  await pty.enter('n');
  await pty.exited;
});
