import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The command as `npm run build` made it. */
export const main = path.join(path.dirname(import.meta.dirname), 'dist/main.js');

/** @param {string} cwd @param {string} program @param {string[]} argv */
export function quiet(cwd, program, ...argv) {
  execFileSync(program, argv, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** This process's environment, with our own directories in `dir`. @param {string} dir */
export function environmentIn(dir) {
  const env = { ...process.env };
  for (const name of ['STATE', 'DATA', 'CACHE', 'CONFIG']) env[`XDG_${name}_HOME`] = path.join(dir, name.toLowerCase());
  return env;
}

/** A project of one file in a new temporary directory, and our own directories next to it. */
export function smallProject() {
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-bench-'));
  const project = path.join(dir, 'project');
  mkdirSync(project);
  writeFileSync(path.join(project, 'a.txt'), 'a\n');
  return { dir, project, env: environmentIn(dir) };
}

/**
 * What a word of the command line asks for: 30000x7000 are files and their bytes, 1000+9999 has that many commits more,
 * xfs:30000x7000 lies on its own file system in a loop device.
 * @param {string} word
 */
export function readTree(word) {
  const found = /^(?:(xfs|btrfs):)?(\d+)(?:x(\d+))?(?:\+(\d+))?$/.exec(word);
  if (found === null) throw new Error(`${word}: FILES[xBYTES][+COMMITS], before it xfs: or btrfs: where it is to lie`);
  const [, disk, files = '100', bytes = '2000', commits = '0'] = found;
  return { disk, files: Number(files), bytes: Number(bytes), commits: Number(commits) };
}

/**
 * A committed project in directories of a hundred files, and our own directories next to it; one that is there stays.
 * @param {ReturnType<typeof readTree>} tree @param {string} dir
 */
export function prepareTree({ files, bytes, commits }, dir) {
  const project = path.join(dir, 'project');
  const content = 'some text of a file '.repeat(Math.ceil(bytes / 20)).slice(0, Math.max(0, bytes - 10));
  if (!existsSync(project)) {
    for (let at = 0; at < files; at += 1) {
      const folder = path.join(project, `d${Math.floor(at / 100)}`);
      if (at % 100 === 0) mkdirSync(folder, { recursive: true });
      writeFileSync(path.join(folder, `f${at % 100}`), `${at}\n${content}`);
    }
    writeFileSync(path.join(project, '.gitignore'), 'out/\n');
    quiet(project, 'git', 'init', '-q', '-b', 'main');
    // Otherwise git packs in the background during the run.
    quiet(project, 'git', 'config', 'gc.auto', '0');
    quiet(project, 'git', 'add', '-A');
    quiet(project, 'git', '-c', 'user.name=b', '-c', 'user.email=b@example.org', 'commit', '-q', '-m', 'all');
    addCommits(project, commits);
    // As after a clone: history in a pack, not in loose objects.
    quiet(project, 'git', 'repack', '-a', '-d', '-q');
  }
  const env = environmentIn(dir);
  const history = commits === 0 ? '' : `, ${commits + 1} commits`;
  return {
    project,
    env,
    says: `${files} files of ${bytes} bytes${history}`,
    /** @param {number} round */
    touchHundred(round) {
      for (let at = 0; at < 100; at += 1) {
        const file = (at * Math.max(1, Math.floor(files / 100))) % files;
        writeFileSync(path.join(project, `d${Math.floor(file / 100)}`, `f${file % 100}`), `${round}\n${content}`);
      }
    },
  };
}

/** Each changes its own file, written as git stores what people commit: loose first, then packed by gc. */
/** @param {string} project @param {number} commits */
function addCommits(project, commits) {
  if (commits === 0) return;
  const lines = [];
  for (let at = 1; at <= commits; at += 1) {
    const text = `commit ${at}\n`;
    lines.push(
      'commit refs/heads/main',
      `committer b <b@example.org> ${1_700_000_000 + at} +0000`,
      `data ${text.length}\n${text}`,
      ...(at === 1 ? ['from refs/heads/main^0'] : []),
      `M 100644 inline history/h${at % 500}`,
      `data ${text.length}\n${text}`,
    );
  }
  execFileSync('git', ['fast-import', '--quiet'], { cwd: project, input: `${lines.join('\n')}\n` });
  quiet(project, 'git', 'reset', '-q', '--hard');
}

/**
 * A file system that shares blocks between files, in a file on a loop device. Needs root; `remove` takes all of it away.
 * @param {string} kind @param {string} dir
 */
export function mountImage(kind, dir) {
  const [image, at] = [path.join(dir, 'disk.img'), path.join(dir, 'disk')];
  mkdirSync(at);
  quiet(dir, 'truncate', '-s', '12G', image);
  quiet(dir, `mkfs.${kind}`, '-q', image);
  quiet(dir, 'mount', '-o', 'loop', image, at);
  return {
    at,
    remove() {
      quiet(dir, 'umount', at);
      rmSync(image);
    },
  };
}

/** Bytes of run-claude's directories on the disk. @param {string} dir */
export function spent(dir) {
  const places = ['state', 'data', 'cache'].map((name) => path.join(dir, name));
  const out = execFileSync('du', ['-sc', '--block-size=1', ...places], { encoding: 'utf8' });
  return Number(/^(\d+)\s+total$/m.exec(out)?.[1]);
}
