import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

/**
 * Run by the same Node program on the host and inside: every entry but git's own by the bytes of its name, with what
 * a copy has to keep. The many small files are one digest.
 */
const LISTING = `
const fs = require('fs'), { createHash } = require('crypto');
const out = {}, many = createHash('sha256');
const visit = (dir) => {
  for (const name of fs.readdirSync(dir, { encoding: 'buffer' }).sort(Buffer.compare)) {
    if (['.git', 'listing.json'].includes(name.toString())) continue;
    const at = Buffer.concat([dir, Buffer.from('/'), name]), s = fs.lstatSync(at, { bigint: true });
    const kind = s.isFile() ? 'file' : s.isDirectory() ? 'dir' : s.isSymbolicLink() ? 'link' : 'special';
    const entry = [kind, Number(s.mode & 4095n).toString(8), kind === 'file' ? Number(s.size) : 0];
    if (kind !== 'dir') entry.push(String(s.mtimeNs));
    if (kind === 'link') entry[1] = '', entry.push(fs.readlinkSync(at, { encoding: 'buffer' }).toString('hex'));
    if (kind === 'file' && s.size < 1000000n) entry.push(createHash('sha256').update(fs.readFileSync(at)).digest('hex'));
    if (kind === 'file' && s.size >= 1000000n) entry.push(s.blocks < 100n ? 'sparse' : 'dense');
    if (at.toString().startsWith('./many/')) many.update(name).update(JSON.stringify(entry));
    else out[at.toString('hex')] = entry.join(' ');
    if (kind === 'dir') visit(at);
  }
};
visit(Buffer.from('.'));
process.stdout.write(JSON.stringify({ out, many: many.digest('hex') }));`;

// Times are copied to the microsecond: Node sets none that are finer.
const WHOLE_MILLISECONDS = `import os
for dir, dirs, files in os.walk(b'.'):
    dirs[:] = [name for name in dirs if name != b'.git']
    for name in dirs + files:
        at = os.path.join(dir, name)
        ns = os.lstat(at).st_mtime_ns // 10**6 * 10**6
        os.utime(at, ns=(ns, ns), follow_symlinks=False)`;

const ODD = ['with space', 'new\nline', 'com,ma', 'col:on', 'back\\slash', '-dash', 'emoji 🙂', 'quo"te\'s', '*?[x]'];
const NOT_UTF8 = Buffer.from([0x6e, 0xff, 0xfe, 0x2e, 0x74]);

function buildTree(scene: Scene): void {
  const at = (name: string): string => path.join(scene.project, name);
  for (const name of ODD) scene.write(`odd/${name}/${name}`, `${name}\n`);
  writeFileSync(Buffer.concat([Buffer.from(at('odd/')), NOT_UTF8]), 'bytes\n');
  mkdirSync(at('venv/bin'), { recursive: true });
  symlinkSync('/usr/bin/python3', at('venv/bin/python'));
  symlinkSync('nowhere/at/all', at('broken'));
  symlinkSync('loop', at('loop'));
  scene.write('empty', '');
  mkdirSync(at('hollow'));
  scene.write('sparse.img', '');
  truncateSync(at('sparse.img'), 2 ** 30);
  scene.write('tool.sh', '#!/bin/sh\n', 0o755);
  scene.write('private', 'mine\n', 0o600);
  scene.write('hard/one', 'linked\n');
  linkSync(at('hard/one'), at('hard/two'));
  execFileSync('mkfifo', [at('pipe')]);
  for (let i = 0; i < 30_000; i++) {
    if (i % 300 === 0) mkdirSync(at(`many/${i}`), { recursive: true });
    writeFileSync(at(`many/${i - (i % 300)}/${i}`), `${i}\n`);
  }
  utimesSync(at('tool.sh'), 1_000_000_000.123, 1_000_000_000.123);
  const git = (dir: string, ...args: readonly string[]): void => {
    const identity = ['-c', 'user.name=P', '-c', 'user.email=p@example.org', '-c', 'protocol.file.allow=always'];
    execFileSync('git', [...identity, ...args], { cwd: dir, env: scene.env, stdio: 'pipe' });
  };
  const library = path.join(scene.root, 'library');
  for (const dir of [at('nested'), library]) {
    mkdirSync(dir);
    writeFileSync(path.join(dir, 'file'), 'in a repository of its own\n');
    git(dir, 'init', '-q', '-b', 'main');
    git(dir, 'add', '-A');
    git(dir, 'commit', '-q', '-m', 'own');
  }
  git(scene.project, 'submodule', '--quiet', 'add', library, 'module');
  execFileSync('python3', ['-c', WHOLE_MILLISECONDS], { cwd: scene.project });
}

const AGENT = `
cat > /tmp/listing.js <<'END'
${LISTING}
END
node /tmp/listing.js > listing.json
for dir in . nested module; do git -C $dir log --oneline | wc -l; done > repositories
git -C module status --porcelain | wc -l >> repositories
for name in odd/*; do [ -d "$name" ] && echo changed >> "$name/$(basename -- "$name")"; done
printf more >> "$(printf 'odd/n\\377\\376.t')"
ln -sfn /usr/bin/python3.12 venv/bin/python
rm broken; echo more >> hard/one; : > "$(printf 'odd/born\\nhere')"; : > 'odd/born, here'; rmdir hollow; chmod 640 private`;

it('odd trees of real projects are copied exactly or reported as left out; changes with odd names come back', async () => {
  await using scene = new Scene();
  buildTree(scene);
  const server = createServer().listen(path.join(scene.project, 'sock'));
  const list = (): { out: Record<string, string>; many: string } =>
    JSON.parse(execFileSync(process.execPath, ['-e', LISTING], { cwd: scene.project, maxBuffer: 1 << 26 }).toString());
  const before = list();
  const gitBefore = scene.fingerprint('.git');
  const result = await scene.run([
    'exec',
    '--auto-apply',
    '--new-kinds',
    'note',
    scene.project,
    '--',
    'sh',
    '-c',
    AGENT,
  ]);
  expect(result.stderr).toMatch(/Left out of the copy: .*pipe/);
  expect(result.stderr).toMatch(/Left out of the copy: .*sock/);
  const read = (name: string | Buffer): string =>
    readFileSync(Buffer.concat([Buffer.from(`${scene.project}/`), Buffer.from(name)]), 'utf8');
  const inside = JSON.parse(read('listing.json'));
  const expected = Object.fromEntries(Object.entries(before.out).filter(([, entry]) => !entry.startsWith('special')));
  expect(inside.out).toEqual(expected);
  expect(inside.many).toBe(before.many);
  expect(Object.values(expected).filter((entry) => entry.endsWith(' sparse'))).toHaveLength(1);
  expect(read('repositories').split(/\s+/).filter(Boolean)).toEqual(['3', '1', '1', '0']);

  for (const name of ODD) expect(read(`odd/${name}/${name}`), name).toBe(`${name}\nchanged\n`);
  expect(read(Buffer.concat([Buffer.from('odd/'), NOT_UTF8]))).toBe('bytes\nmore');
  expect(read('hard/one')).toBe('linked\nmore\n');
  const after = list();
  // Only now: closing it removes it.
  server.close();
  expect(after.many).toBe(before.many);
  const key = (name: string): string => Buffer.from(`./${name}`).toString('hex');
  expect(after.out[key('broken')]).toBeUndefined();
  expect(after.out[key('hollow')]).toBeUndefined();
  expect(after.out[key('odd/born, here')]).toContain('file');
  // A name with a control character may stay, and is never made.
  expect(after.out[key('odd/born\nhere')]).toBeUndefined();
  expect(after.out[key('private')]).toContain('file 640');
  // A link that leaves the project is never applied.
  expect(after.out[key('venv/bin/python')]).toBe(before.out[key('venv/bin/python')]);
  for (const name of ['sparse.img', 'tool.sh', 'loop', 'empty', 'pipe', 'sock']) {
    expect(after.out[key(name)], name).toBe(before.out[key(name)]);
  }
  expect(scene.fingerprint('.git')).toBe(gitBefore);
  expect(result.status).toBe(121);
});
