import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../../support/scene.ts';

/** One attempt a line: name, what it wants, what the agent does in its copy. `$OUT` is a folder of the host's. */
const ATTEMPTS: readonly (readonly [string, string])[] = [
  ['a link out, and a file behind it', 'ln -s "$OUT" a1 && mkdir -p x1 && ln -s "$OUT/deep" x1/l'],
  ['a folder in the place of one that is a link on the host', 'mkdir out && echo evil > out/f'],
  ['the same one step deeper', 'mkdir -p out/deep && echo evil > out/deep/f'],
  ['a folder of the project turned into a link out', 'rm -r src && ln -s "$OUT" src'],
  ['its own .git', 'mkdir -p n1/.git/hooks && echo evil > n1/.git/hooks/post-checkout'],
  ['another case of it', 'mkdir -p n2/.GIT && echo "[core] fsmonitor=evil" > n2/.GIT/config'],
  ['NTFS’ short name of it', 'mkdir -p "n3/git~1" && echo evil > "n3/git~1/config"'],
  ['one with a trailing dot', 'mkdir -p "n4/.git." && echo evil > "n4/.git./config"'],
  ['an alternate stream', 'mkdir -p "n5/.git::\\$INDEX_ALLOCATION" && echo e > "n5/.git::\\$INDEX_ALLOCATION/config"'],
  ['a joiner that HFS+ drops', 'd=$(printf "n6/.g\\342\\200\\214it") && mkdir -p "$d" && echo e > "$d/config"'],
  [
    'full-width letters',
    'd=$(printf "n7/.\\357\\275\\207\\357\\275\\211\\357\\275\\224") && mkdir -p "$d" && echo e > "$d/config"',
  ],
  ['a gitfile', 'mkdir n8 && echo "gitdir: $OUT" > n8/.git'],
  ['a link of that name', 'mkdir n9 && ln -s "$OUT" n9/.git'],
  ['a bare repository', 'git init -q --bare n10 && printf "[core]\\n\\tfsmonitor = touch $OUT/ran\\n" >> n10/config'],
  ['options for names', 'touch -- -rf --output=x "--upload-pack=touch $OUT/ran" -'],
  ['commands in names', 'touch "\\$(touch $PWD-ran)" "\\`id\\`" ";id" "|id" "&id" "a\\"b" "a\'b"'],
  ['control characters', 'touch "$(printf "a\\033]52;c;eA==\\ab")" "$(printf "a\\rb")" "$(printf "a\\nD src")"'],
  [
    'bytes that are no text',
    'touch "$(printf "b\\377")" "$(printf "b\\376")" && mkdir "$(printf "d\\377")" && echo x > "$(printf "d\\377")/f"',
  ],
  [
    'names of ours',
    'mkdir -p journal store && touch journal/0001.journal session.json && ln -s "$OUT/f" .rc-000000000000-0',
  ],
  ['a long name', 'touch "$(head -c 255 /dev/zero | tr "\\0" n)"'],
  ['many levels', '(i=0; while [ $i -lt 60 ]; do mkdir dddddddddd && cd dddddddddd; i=$((i+1)); done; echo deep > f)'],
  [
    'a FIFO, a socket',
    'mkfifo p1; perl -e \'use Socket; socket(S,AF_UNIX,SOCK_STREAM,0); bind(S,pack_sockaddr_un("s1"))\' || true',
  ],
  ['set-id bits', 'cp /bin/true su && chmod 6755 su; mkdir sg && chmod 2777 sg'],
  ['modes that close', 'mkdir c1 && echo x > c1/f && chmod 0 c1/f && chmod 0 c1'],
  ['a hard link', 'echo x > h1 && ln h1 h2'],
  ['a device without rights', 'mknod w0 c 0 0 || true'],
  ['a sparse giant', 'truncate -s 1T giant'],
  ['object keys', 'mkdir __proto__ constructor && echo x > __proto__/isBlocked && touch toString'],
  ['a swap and a cycle', 'mv log.txt t && mv README.md log.txt && mv t README.md'],
  [
    'Claude’s settings',
    'mkdir -p .claude && echo \'{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"id"}]}]}}\' > .claude/settings.json',
  ],
  ['its own rules', 'echo "*" > .gitignore; printf "exclude = []\\n" > .run-claude.toml'],
  ['attributes', 'perl -e \'syscall(188, "log.txt", "user.overlay.opaque", "y", 1, 0)\' || true'],
  ['times out of range', 'touch -d 1901-01-01 t1; touch -d 2446-01-01 t2'],
];

/** What it does to its own repository before its commits are asked for. */
const COMMITS: readonly string[] = [
  'echo "$OUT" >> .git/objects/info/alternates',
  'git replace -f HEAD HEAD~1',
  'mkdir -p .git/info && git rev-parse HEAD > .git/info/grafts',
  'printf "[core]\\n\\tfsmonitor = touch $OUT/ran\\n\\thooksPath = /workspace/h\\n[uploadpack]\\n\\tpackObjectsHook = touch $OUT/ran\\n" >> .git/config',
  'git update-ref refs/heads/--output=x HEAD || true',
  'git update-ref refs/notes/commits HEAD',
  'git update-ref refs/remotes/origin/main HEAD',
  'git tag -f main HEAD',
  'printf "ref: refs/heads/../../evil\\n" > .git/refs/heads/sym || true',
];

it('a session that tries everything: apply, undo and its commits leave no trace outside the project or in .git', async () => {
  await using scene = new Scene();
  const out = path.join(scene.root, 'outside');
  mkdirSync(path.join(out, 'deep'), { recursive: true });
  for (const name of ['f', 'deep/f']) writeFileSync(path.join(out, name), 'mine');
  symlinkSync(out, path.join(scene.project, 'out'));
  writeFileSync(path.join(scene.project, '.gitignore'), 'out\n');
  const before = scene.fingerprint();
  const git = scene.fingerprint('.git');
  const [src, hooks] = [scene.fingerprint('src'), scene.fingerprint('.git/hooks')];
  const state = (): string =>
    execFileSync('sh', ['-c', 'find "$1" -printf "%y %p %l\\n" | sort; cat "$1/f" "$1/deep/f"', 'sh', out], {
      encoding: 'utf8',
    });
  const outside = state();
  const lines = [
    ...ATTEMPTS.map(([, line]) => line),
    'git add log.txt; git -c user.name=x -c user.email=x@x commit -qm made',
    ...COMMITS,
  ];
  const script = `OUT='${out}'; ${lines.map((line) => `( ${line} ) 2>/dev/null || true`).join('\n')}`;
  const ran = await scene.run(['exec', scene.project, '--', 'bash', '-c', script]);
  expect(ran.status).toBe(120);
  expect([scene.fingerprint(), scene.fingerprint('.git'), state()]).toEqual([before, git, outside]);

  for (const words of [
    ['--yes'],
    ['--yes', '--conflict=theirs'],
    ['--yes', '--conflict=file'],
    ['--yes', '--only', '**'],
    ['--yes', '--skip', '!x'],
  ]) {
    const applied = await scene.run(['apply', ...words]);
    expect([121, 122]).toContain(applied.status);
    expect(applied.stderr + applied.stdout).not.toMatch(/[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]/);
    expect([scene.fingerprint('.git'), state()]).toEqual([git, outside]);
  }
  const there = new Set(readdirSync(scene.project));
  for (const name of ['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8', 'n9', 'n10'])
    expect([name, there.has(name) ? readdirSync(path.join(scene.project, name)) : []]).toEqual([name, []]);
  expect(lstatSync(path.join(scene.project, 'out')).isSymbolicLink()).toBe(true);
  for (const name of ['p1', 's1', 'w0', 'giant']) expect([name, there.has(name)]).toEqual([name, false]);
  const setId = execFileSync('find', [scene.project, '-perm', '/7000'], { encoding: 'utf8' });
  expect(setId).toBe('');

  const commits = await scene.run(['commits', '--import', '--yes']);
  expect([0, 2, 120, 121, 122, 125]).toContain(commits.status);
  const refs = scene
    .git('for-each-ref', '--format=%(refname)')
    .split('\n')
    .filter((name) => name !== '' && !name.startsWith('refs/run-claude/'));
  expect(refs).toEqual(['refs/heads/main']);
  expect([state(), existsSync(path.join(out, 'ran'))]).toEqual([outside, false]);
  for (let tries = 0; tries < 6; tries++) await scene.run(['undo', '--yes']);
  expect([scene.fingerprint('src'), scene.fingerprint('.git/hooks'), state()]).toEqual([src, hooks, outside]);
  expect(readFileSync(path.join(scene.project, 'log.txt'), 'utf8')).toBe('third\n');
});
