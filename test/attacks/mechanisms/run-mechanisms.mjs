// Runs in a container: reads mechanisms (mechanism.ts) from a file of JSON and prints for each, as a line of JSON, whether its
// command wrote the mark in the project as it was, and with the files of the attack.
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const [file = '', mark = '', tools = ''] = process.argv.slice(2);
const AT_ONCE = 2;
const COMMAND_MS = 120_000;

/**
 * @typedef {{ name: string, base: Record<string, string>, attack: Record<string, string>, command: string,
 *   prepare?: string, mark?: string }} Mechanism
 */

/** @type {Mechanism[]} */
const mechanisms = JSON.parse(readFileSync(file, 'utf8'));

/** Runs a command in a folder with its own home; returns what it printed. @param {string} command @param {string} place */
function bash(command, place) {
  const env = { PATH: `${tools}:${process.env['PATH']}`, HOME: path.join(place, 'home'), LANG: 'C.UTF-8' };
  const options = {
    cwd: path.join(place, 'project'),
    env,
    timeout: COMMAND_MS,
    killSignal: /** @type {const} */ ('SIGKILL'),
  };
  return new Promise((resolve) => {
    const child = execFile('bash', ['-c', command], options, (_error, out, err) => resolve(`${out}${err}`));
    child.stdin?.end();
  });
}

/** @param {string} root @param {Record<string, string>} texts */
function write(root, texts) {
  for (const [name, text] of Object.entries(texts)) {
    const to = path.join(root, name);
    mkdirSync(path.dirname(to), { recursive: true });
    writeFileSync(to, text);
    if (text.startsWith('#!')) chmodSync(to, 0o755);
  }
}

/**
 * Whether the command writes the mark. Each run has its own mark.
 * @param {Mechanism} mechanism @param {string} place @param {boolean} isAttacked
 */
async function runs(mechanism, place, isAttacked) {
  const own = `${place}/mark`;
  const {
    base,
    attack,
    prepare = 'true',
    command,
    mark: named,
  } = JSON.parse(JSON.stringify(mechanism).replaceAll(mark, own));
  const project = path.join(place, 'project');
  mkdirSync(path.join(place, 'home'), { recursive: true });
  mkdirSync(project);
  const config = 'git config --global user.name a; git config --global user.email a@b.c';
  await bash(`${config}; git init -q -b main`, place);
  write(project, base);
  await bash(`git add -A; git commit -q --allow-empty -m base; ${prepare}`, place);
  if (isAttacked) write(project, attack);
  const said = await bash(command, place);
  return { isMarked: existsSync(named === undefined ? own : path.join(project, named)), said: said.slice(-600) };
}

const todo = [...mechanisms.entries()];
async function next() {
  for (let one = todo.shift(); one !== undefined; one = todo.shift()) {
    const [index, mechanism] = one;
    const before = await runs(mechanism, `/workspace/${index}a`, false);
    const after = await runs(mechanism, `/workspace/${index}b`, true);
    console.log(
      JSON.stringify({ name: mechanism.name, before: before.isMarked, after: after.isMarked, said: after.said }),
    );
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, next));
