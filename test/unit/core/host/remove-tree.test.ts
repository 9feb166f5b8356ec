import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compileProgram } from '../../../support/compile.ts';
import { skipUnless } from '../../../support/requirement.ts';

/** Modes do not stop root: where the tests run as root, a user of another id removes. */
const USER = process.getuid?.() === 0 ? { uid: 48_213, gid: 48_213 } : {};
const SOURCE = path.resolve(import.meta.dirname, '../../../../src/core/host/files/remove-tree.ts');

let program: string;
let dir: string;

beforeAll(async () => {
  program = await compileProgram(SOURCE);
});
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-remove-'));
  if ('uid' in USER) execFileSync('chown', [`${USER.uid}:${USER.gid}`, dir]);
});
afterEach(() => {
  execFileSync('bash', ['-c', 'chmod -R u+rwX -- "$1"; rm -rf -- "$1"', 'bash', dir], { stdio: 'ignore' });
});

function shell(script: string): void {
  execFileSync('bash', ['-ec', script], { cwd: dir, ...USER });
}

/** Runs code of the user's with the functions of the module in scope; gives what it prints. */
function runAsUser(code: string): string {
  const source = `import { removeEntriesInBackground, removeTree, removeTreeSync } from ${JSON.stringify(pathToFileURL(program))};
const dir = ${JSON.stringify(dir)}; ${code}`;
  const args = ['--input-type=module', '-e', source];
  return execFileSync(process.execPath, args, { ...USER, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

const WAYS = [
  ['removeTreeSync', (tree: string) => runAsUser(`removeTreeSync(${tree})`)],
  ['removeTree', (tree: string) => runAsUser(`await removeTree(${tree})`)],
] as const;

describe.each(WAYS)('%s', (_, remove) => {
  it('removes closed directories at any depth', () => {
    shell(
      'mkdir -p tree/a/b/c tree/open; touch tree/f tree/a/f tree/a/b/c/f; chmod 000 tree/a/b/c tree/a/b tree/a tree',
    );
    remove('dir + "/tree"');
    expect(readdirSync(dir)).toEqual([]);
  });

  it('removes a tree that is deeper than the longest path, with closed directories at its end', () => {
    shell(`mkdir tree; cd tree
      for at in $(seq 30); do name=$(printf 'd%.0s' $(seq 200)); mkdir $name; cd -P $name 2>/dev/null || cd $name; done
      mkdir closed; touch closed/f; chmod 000 closed; cd /; chmod 500 ${dir}/tree`);
    remove('dir + "/tree"');
    expect(readdirSync(dir)).toEqual([]);
  });

  it('removes names that look like options or patterns, or are not valid UTF-8', () => {
    shell(`mkdir -p tree/-rf 'tree/*' $'tree/a\\nb' $'tree/\\377\\200'; touch $'tree/\\377\\200/f'
      chmod 000 tree/-rf $'tree/\\377\\200' tree`);
    remove('dir + "/tree"');
    shell(
      `mkdir -p $'\\376 "$(touch planted)%s'/in; touch $'\\376 "$(touch planted)%s'/in/f; chmod 000 $'\\376 "$(touch planted)%s'/in`,
    );
    remove('Buffer.concat([Buffer.from(dir + "/"), Buffer.of(0xfe), Buffer.from(\' "$(touch planted)%s\')])');
    expect(readdirSync(dir)).toEqual([]);
  });

  it('follows no link, and does not change the mode of a file that has a second name', () => {
    shell(`mkdir -p outside/inner tree/closed; touch outside/f; chmod 500 outside/inner
      ln -s ../outside tree/link; ln -s ../../outside/inner tree/closed/link
      touch tree/closed/shared; chmod 400 tree/closed/shared; ln tree/closed/shared shared; chmod 000 tree/closed
      ln -s outside top`);
    remove('dir + "/tree"');
    remove('dir + "/top"');
    expect(readdirSync(dir).sort()).toEqual(['outside', 'shared']);
    expect(readdirSync(path.join(dir, 'outside')).sort()).toEqual(['f', 'inner']);
    const modes = ['outside/inner', 'shared'].map((name) => statSync(path.join(dir, name)).mode & 0o777);
    expect(modes).toEqual([0o500, 0o400]);
  });

  it('accepts a tree that does not exist', () => {
    remove('dir + "/none"');
    remove('dir + "/none/below"');
  });

  it('reports an entry that it cannot remove', (context) => {
    skipUnless(process.getuid?.() === 0, 'needs root, which alone can run as another user', context);
    shell('mkdir -p tree/a');
    mkdirSync(path.join(dir, 'tree/a/foreign'));
    writeFileSync(path.join(dir, 'tree/a/foreign/f'), '');
    expect(() => remove('dir + "/tree"')).toThrow(/cannot remove .*\/tree[\s\S]*REMOVE_FAILED/);
    expect(existsSync(path.join(dir, 'tree/a/foreign/f'))).toBe(true);
  });
});

it('changes the mode of the parent directory only on request', () => {
  shell('mkdir -p above/tree; chmod 500 above');
  expect(() => runAsUser('removeTreeSync(dir + "/above/tree")')).toThrow(/cannot remove/);
  expect(statSync(path.join(dir, 'above')).mode & 0o777).toBe(0o500);
  runAsUser('removeTreeSync(dir + "/above/tree", { opensParent: true })');
  expect(readdirSync(path.join(dir, 'above'))).toEqual([]);
});

it('removes the entries of a directory in the background', async () => {
  shell(`mkdir -p trash/a/b trash/.hidden/c 'trash/-rf'; touch trash/a/b/f; chmod 000 trash/a/b trash/a trash/.hidden`);
  runAsUser('removeEntriesInBackground(dir + "/trash")');
  await expect.poll(() => readdirSync(path.join(dir, 'trash')), { timeout: 10_000 }).toEqual([]);
});

it('is the only file of src/ that removes a tree with a program of the system', () => {
  const src = path.resolve(import.meta.dirname, '../../../../src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const callers = files.filter((file) => {
    const source = readFileSync(path.join(src, file), 'utf8');
    return /\brm -rf\b|['"]rm['"]/.test(source) && source.includes('start-program.ts');
  });
  expect(callers).toEqual(['core/host/files/remove-tree.ts']);
});
