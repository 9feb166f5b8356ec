import { execFile, execFileSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { COMMANDS } from '../../../../../src/cli/grammar/commands.ts';
import { moduleNames, programNames } from '../../../../support/planted.ts';
import { firstRows } from '../../../../support/rows.ts';
import { mainJs, type RunResult, Scene } from '../../../../support/scene.ts';

/** Where the user's PATH leads into the project, as npm, direnv and virtual environments set it. */
const PATH_FOLDERS = ['node_modules/.bin', '.venv/bin', 'bin', '.'];

/** Commands of the table, in an order in which most have something to do. */
const LATER: ReadonlyArray<readonly string[]> = [
  ['status'],
  ['diff'],
  ['audit'],
  ['commits'],
  ['export', 'exported'],
  ['apply', '--yes'],
  ['undo', '--yes'],
  ['import', 'exported'],
  ['log'],
  ['sessions'],
  ['config'],
  ['doctor'],
  ['audit', '--base', 'HEAD~1'],
];

/** Those that start containers, and the rest of the table. */
const LONG: ReadonlyArray<readonly string[]> = [
  ['resume'],
  ['exec', '--yes', '--rehearse', 'always', '--test', 'true', '.', '--', 'sh', '-c', 'echo >> src/file2.txt'],
  ['rehearse'],
  ['explore'],
  ['diff', '--view'],
  ['commits', '--import'],
  ['apply', '--dry-run', '--branch', 'new'],
  ['build'],
  ['batch', 'tasks', '--dry-run'],
  ['up', '--yes', '.'],
  ['exec', '--session', 'ID', '--', 'sh', '-c', 'echo >> src/file3.txt'],
  ['shell', 'ID'],
  ['ports', 'ID'],
  ['down', 'ID'],
  ['note', 'a text'],
  ['network', '--suggest'],
  ['wait'],
  ['attach'],
  ['stop'],
  ['top'],
  ['projects'],
  ['cache'],
  ['mcp', 'list'],
  ['plugin', 'path'],
  ['audit', '--staged'],
  ['completion', 'bash'],
  ['config', 'set', 'memory', '4g'],
  ['help', 'pages'],
  ['version'],
];

const LAST: ReadonlyArray<readonly string[]> = [
  ['discard', '--yes'],
  ['gc', '--yes'],
];

/** A scene in which every program and module that run-claude could start or load is planted in the project. */
class PlantedScene extends Scene {
  /** Gets a line from each planted program or module that ran. */
  readonly log: string = path.join(this.root, 'planted.log');

  get userEnv(): Readonly<Record<string, string>> {
    const folders = PATH_FOLDERS.map((folder) => path.join(this.project, folder));
    return {
      PATH: [...folders, '', '.', './bin', this.env['PATH']].join(':'),
      NODE_PATH: path.join(this.project, 'node_modules'),
      NODE_OPTIONS: '--require ./planted.cjs',
      BASH_ENV: path.join(this.project, 'planted.sh'),
      ENV: path.join(this.project, 'planted.sh'),
      GIT_EXEC_PATH: path.join(this.project, 'bin'),
      GIT_EXTERNAL_DIFF: './bin/git',
      GIT_PAGER: './bin/less',
      PAGER: path.join(this.project, 'bin/less'),
      EDITOR: './bin/vi',
      TMPDIR: path.join(this.project, 'scratch'),
      DOCKER_CONFIG: path.join(this.project, '.docker'),
    };
  }

  plant(): void {
    const program = path.join(this.root, 'program');
    writeFileSync(program, `#!/bin/sh\necho "program $0" >>'${this.log}'\n`, { mode: 0o777 });
    for (const folder of PATH_FOLDERS) {
      const dir = path.join(this.project, folder);
      mkdirSync(dir, { recursive: true });
      for (const name of programNames()) {
        const file = path.join(dir, name);
        if (!existsSync(file)) linkSync(program, file);
      }
    }
    const line = `require('node:fs').appendFileSync(${JSON.stringify(this.log)}, 'module ' + __filename + '\\n');\n`;
    for (const above of [this.project, this.root]) {
      for (const name of moduleNames()) {
        const dir = path.join(above, 'node_modules', name);
        mkdirSync(dir, { recursive: true });
        writeFileSync(path.join(dir, 'index.js'), line);
      }
    }
    writeFileSync(path.join(this.project, 'planted.cjs'), line);
    writeFileSync(path.join(this.project, 'planted.sh'), `echo "profile $0" >>'${this.log}'\n`);
    for (const name of ['scratch', '.docker']) mkdirSync(path.join(this.project, name));
    writeFileSync(path.join(this.project, '.gitignore'), '/*\n');
  }

  /** Runs the command as it is installed: by its first lines, which choose the Node. */
  command(...args: readonly string[]): Promise<RunResult> {
    return new Promise((resolve) => {
      const options = { cwd: this.project, env: { ...this.env, ...this.userEnv } };
      const child = execFile('/bin/sh', [mainJs, ...args], options, (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
      });
      child.stdin?.end();
    });
  }

  ran(): string {
    return existsSync(this.log) ? readFileSync(this.log, 'utf8') : '';
  }
}

it('starts no program and loads no module that is planted in the project, in any command', async () => {
  await using scene = new PlantedScene();
  scene.plant();
  // The traps work: without the launcher, Node and git come from the project.
  execFileSync('/bin/sh', ['-c', 'node; git'], { cwd: scene.project, env: { ...scene.env, ...scene.userEnv } });
  expect(scene.ran()).toContain('bin/node');
  expect(scene.ran()).toContain('bin/git');
  rmSync(scene.log);

  const bound = await scene.command('exec', '--bind', '--yes', '.', '--', 'sh', '-c', 'echo more >> src/file1.txt');
  expect([bound.status, scene.ran()], bound.stderr).toEqual([0, '']);
  const copied = await scene.command('exec', '--yes', '.', '--', 'sh', '-c', 'echo again >> src/file2.txt');
  expect([copied.status, scene.ran()], copied.stderr).toEqual([120, '']);
  writeFileSync(path.join(scene.project, 'tasks'), 'a task\n');
  let id = '';
  for (const words of [...LATER, ...firstRows(1, LONG), ...LAST]) {
    const { stdout, stderr } = await scene.command(...words.map((word) => (word === 'ID' ? id : word)));
    if (words[0] === 'up') id = stdout.trim();
    expect(scene.ran(), `${words.join(' ')}: ${stderr}`).toBe('');
  }
  const called = new Set([...LATER, ...LONG, ...LAST].map(([name]) => name));
  expect(COMMANDS.map(({ name }) => name).filter((name) => !called.has(name))).toEqual([]);
});

it('runs nothing that the agent of a bind session leaves for the end of its session, or for the next ones', async () => {
  await using scene = new PlantedScene();
  const names = programNames();
  writeFileSync(path.join(scene.project, 'names'), names.join('\n'));
  const plant = `mkdir -p bin node_modules/.bin && printf '#!/bin/sh\\necho "$0" >>${scene.log}\\n' > bin/git && chmod 755 bin/git
    while read -r name; do ln -f bin/git "bin/$name"; ln -f bin/git "node_modules/.bin/$name"; done < names`;
  const bound = await scene.command('exec', '--bind', '--yes', '.', '--', 'bash', '-c', plant);
  expect(scene.ran(), bound.stderr).toBe('');
  // From another folder too: the folders of bind sessions are remembered.
  const elsewhere = path.join(scene.root, 'elsewhere');
  mkdirSync(elsewhere);
  execFileSync('git', ['init', '-q'], { cwd: elsewhere, env: scene.env });
  for (const words of [['exec', '--yes', elsewhere, '--', 'true'], ['doctor'], ['gc', '--yes']]) {
    const { stderr } = await scene.run(words, { cwd: elsewhere, env: { PATH: scene.userEnv['PATH'] ?? '' } });
    expect(scene.ran(), `${words.join(' ')}: ${stderr}`).toBe('');
  }
});
