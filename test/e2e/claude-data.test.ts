import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../scene.ts';
import { startMessagesApi } from '../stand-in/messages-api.mjs';

const KEY = 'sk-ant-REAL-CREDENTIAL-4e8b21';
const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'step' } });

/** What a person's configuration directory may hold; other projects' data and a login among it. */
function fillClaude(scene: Scene): string {
  const top = path.join(scene.home, '.claude');
  const write = (name: string, text: string): void => {
    mkdirSync(path.dirname(path.join(top, name)), { recursive: true });
    writeFileSync(path.join(top, name), text);
  };
  write('settings.json', '{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch HOST"}]}]}}');
  write('CLAUDE.md', 'The person’s own words.\n');
  write('skills/mine/SKILL.md', '---\nname: mine\n---\nhello\n');
  write('projects/-other-project/99999999-2222-4333-8444-555555555555.jsonl', 'SECRET-OF-ANOTHER-PROJECT\n');
  write('history.jsonl', '{"display":"SECRET-OF-ANOTHER-PROJECT","project":"/other/project","timestamp":1}\n');
  writeFileSync(
    path.join(scene.home, '.claude.json'),
    '{"userID":"WHO-I-AM","projects":{"/other/project":{"allowedTools":["SECRET-OF-ANOTHER-PROJECT"]}}}',
  );
  return top;
}

/** Every name, kind, mode and byte of the person's home. */
function homeFingerprint(scene: Scene): string {
  const script = `find . -printf '%y %m %l %p\\n' | LC_ALL=C sort; find . -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum`;
  return execFileSync('sh', ['-c', script], { cwd: scene.home, encoding: 'utf8' });
}

/** Directories of the projects' own data. */
function instances(scene: Scene): string[] {
  const top = path.join(scene.root, 'data', 'run-claude', 'projects');
  return existsSync(top) ? readdirSync(top).map((name) => path.join(top, name)) : [];
}

/** Conversations of one instance, by name. */
function conversations(instance: string): string[] {
  const dir = path.join(instance, 'projects', '-workspace');
  return existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith('.jsonl')) : [];
}

it('a conversation goes on in the next session and in a worktree; another project sees nothing of it', async () => {
  const standIn = await startMessagesApi({
    turns: [
      {
        text: 'I keep it in mind.',
        tools: [bash('mkdir -p ~/.claude/plans; echo "# steps" > ~/.claude/plans/next.md')],
      },
      { text: 'Noted.' },
      { text: 'It was xylophone.' },
    ],
  });
  await using scene = new Scene({ apiUrl: standIn.url, apiKey: KEY });
  try {
    fillClaude(scene);
    const before = homeFingerprint(scene);
    const first = await scene.run(['--copy-workspace', scene.project, '-p', 'the word is xylophone']);
    expect(first.stderr).toContain('WARNING: Plan written: ~/.claude/plans/next.md');
    expect(first.stdout).toContain('Noted.');
    const [instance = ''] = instances(scene);
    expect([first.status, conversations(instance)]).toEqual([120, []]);
    const applied = await scene.run(['apply', '--yes']);
    expect(applied.stderr).toContain("Claude's data: 1 file brought back");
    const [transcript = ''] = conversations(instance);
    const text = readFileSync(path.join(instance, 'projects', '-workspace', transcript), 'utf8');
    expect(text).toContain('the word is xylophone');
    expect(text).not.toMatch(/prompt_snapshot|file-history-snapshot|permission-mode/);
    expect(existsSync(path.join(instance, 'plans'))).toBe(false);

    const worktree = path.join(scene.root, 'second-tree');
    scene.git('worktree', 'add', '-q', worktree);
    const second = await scene.run(['--copy-workspace', worktree, '--continue', '-p', 'what was the word?']);
    expect([second.stdout.trim(), second.status]).toEqual(['It was xylophone.', 0]);
    const asked = JSON.stringify(standIn.requests.filter(({ main }) => main).at(-1)?.body);
    expect(asked).toContain('the word is xylophone');
    expect(instances(scene)).toEqual([instance]);
    const longer = readFileSync(path.join(instance, 'projects', '-workspace', transcript), 'utf8');
    expect(longer.startsWith(text)).toBe(true);
    expect(longer).toContain('what was the word?');

    const other = path.join(scene.root, 'second tree');
    mkdirSync(other);
    const look =
      'ls -R /home/agent/.claude; grep -rsE "xylophone|SECRET-OF|WHO-I-AM|REAL-CRED|touch HOST" /home/agent; true';
    const apart = await scene.run(['exec', other, '--', 'sh', '-c', look]);
    expect(apart.stdout).toContain('/home/agent/.claude/skills/mine');
    expect(apart.stdout).not.toMatch(/xylophone|SECRET-OF|WHO-I-AM|REAL-CRED|touch HOST|\.jsonl\n.*-2222-/);
    expect(instances(scene)).toHaveLength(2);
    expect(homeFingerprint(scene)).toBe(before);
  } finally {
    await standIn.close();
  }
});

/** Rewrites every file, plants what must never come back, and what would hurt a careless reader. */
const hostile = `
cd ~/.claude
find . -type f | while read -r f; do echo PLANTED >> "$f"; done
for f in settings.local.json .config.json hooks/x.sh commands/x.md agents/x.md plugins/cache/a/hooks.json .credentials.json \
  jobs/a/state.json daemon.json shell-snapshots/s.sh brand-new/x ide/1.lock session-env/a/sessionstart-hook-0.sh; do
  mkdir -p "$(dirname $f)"; echo '{"PLANTED":1}' > $f; done
P=projects/-workspace; mkdir -p $P/memory $P/cloud-snapshots/side.git plans todos
U=00000000-0000-4000-8000-00000000000
echo '{"type":"user","uuid":"'$U'1","parentUuid":null,"sessionId":"'$U'1","timestamp":"2026-01-01T00:00:00Z","cwd":"/etc","message":{"role":"user","content":"said inside"}}' > $P/\${U}1.jsonl
echo '{"type":"worktree-state","sessionId":"'$U'1","worktreeSession":{"worktreePath":"/tmp/evil"}}' >> $P/\${U}1.jsonl
ln -s /etc/passwd $P/\${U}2.jsonl; mkfifo $P/\${U}3.jsonl; ln $P/\${U}1.jsonl $P/\${U}4.jsonl; mkdir $P/\${U}5.jsonl
truncate -s 3G $P/\${U}6.jsonl; truncate -s 8T plans/giant.md; head -c 2000000 /dev/zero > $P/memory/MEMORY.md
ln -s / plans/root.md; ln -s / $P/memory/all; mkfifo history.pipe; echo x > $P/cloud-snapshots/side.git/config
touch "$(printf 'odd\\001\\033[2J\\nname')" "$(printf 'bad\\377utf')"; chmod 0 agents; chmod 000 commands/x.md
mkdir deep; cd deep; for i in $(seq 80); do d=$(printf 'd%.0s' $(seq 200)); mkdir $d && cd -P $d || break; done
mkdir -p ~/.claude/many; cd ~/.claude/many; seq 3000 | xargs touch
rm -f ~/.claude.json; ln -s /proc/self/environ ~/.claude.json
true`;

it('a session that rewrites ~/.claude and plants what it can changes nothing on the host, and that is told', async () => {
  await using scene = new Scene();
  const top = fillClaude(scene);
  symlinkSync('/etc/passwd', path.join(top, 'skills', 'leads-out'));
  const before = homeFingerprint(scene);
  const result = await scene.run(['exec', '--auto-apply', scene.project, '--', 'bash', '-c', hostile]);
  expect(result.stderr).not.toContain('at file:');
  expect(result.status).toBe(121);
  expect(homeFingerprint(scene)).toBe(before);
  const told = result.stderr;
  expect(told).toMatch(/skills: not brought along: leads-out/);
  for (const name of [
    'settings.json',
    'CLAUDE.md',
    'skills/mine/SKILL.md',
    'settings.local.json',
    'hooks/x.sh',
    'ide/1.lock',
  ])
    expect(told).toContain(`~/.claude/${name} (BLOCKED — not synced)`);
  expect(told).toMatch(/more such findings/);
  expect([...told].some((char) => char < ' ' && char !== '\n')).toBe(false);
  const [instance = ''] = instances(scene);
  // Two names of one file: neither is taken. Everything else that was planted is refused for what it is.
  expect(
    execFileSync('find', [instance, '-type', 'f', '-printf', '%P\n'], { encoding: 'utf8' }).split('\n').sort(),
  ).toEqual(['', 'mount-point', 'project-root']);
  const shown = await scene.run(['diff', '--', '~/.claude/CLAUDE.md']);
  expect(shown.stdout).toContain('+PLANTED');
});
