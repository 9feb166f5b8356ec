import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The command as `npm run build` made it. */
export const main = path.join(path.dirname(import.meta.dirname), 'dist/main.js');

/** @param {string} cwd @param {string} program @param {string[]} argv */
export function quiet(cwd, program, ...argv) {
  execFileSync(program, argv, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
}

/**
 * A committed project of that many files in directories of a hundred, and our own directories beside it.
 * @param {string} tree 'FILES' or 'FILESxBYTES' @param {string} dir
 */
export function prepareTree(tree, dir) {
  const [files = 100, bytes = 2000] = tree.split('x').map(Number);
  const project = path.join(dir, 'project');
  const content = `${'some text of a file '.repeat(Math.ceil(bytes / 20)).slice(0, bytes - 10)}`;
  for (let at = 0; at < files; at += 1) {
    const folder = path.join(project, `d${Math.floor(at / 100)}`);
    if (at % 100 === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, `f${at % 100}`), `${at}\n${content}`);
  }
  writeFileSync(path.join(project, '.gitignore'), 'out/\n');
  quiet(project, 'git', 'init', '-q');
  quiet(project, 'git', 'add', '-A');
  quiet(project, 'git', '-c', 'user.name=b', '-c', 'user.email=b@example.org', 'commit', '-q', '-m', 'all');
  const env = { ...process.env };
  for (const name of ['STATE', 'DATA', 'CACHE', 'CONFIG']) env[`XDG_${name}_HOME`] = path.join(dir, name.toLowerCase());
  return {
    project,
    env,
    says: `${files} files of ${bytes} bytes`,
    /** @param {number} round */
    touchHundred(round) {
      for (let at = 0; at < 100; at += 1) {
        const file = (at * Math.max(1, Math.floor(files / 100))) % files;
        writeFileSync(path.join(project, `d${Math.floor(file / 100)}`, `f${file % 100}`), `${round}\n${content}`);
      }
    },
  };
}

/** Bytes that our directories hold on the disk. @param {string} dir */
export function spent(dir) {
  const places = ['state', 'data', 'cache'].map((name) => path.join(dir, name));
  const out = execFileSync('du', ['-sc', '--block-size=1', ...places], { encoding: 'utf8' });
  return Number(/^(\d+)\s+total$/m.exec(out)?.[1]);
}
