import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { fillClaude, homeFingerprint, instances } from '../../../../support/claude-home.ts';
import { Scene } from '../../../../support/scene.ts';

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

it('a session that rewrites all of ~/.claude changes nothing on the host, and each attempt is reported', async () => {
  await using scene = new Scene();
  const top = fillClaude(scene);
  symlinkSync('/etc/passwd', path.join(top, 'skills', 'leads-out'));
  const before = homeFingerprint(scene);
  const result = await scene.run(['exec', '--auto-apply', scene.project, '--', 'bash', '-c', hostile]);
  expect(result.stderr).not.toContain('at file:');
  expect(result.status).toBe(121);
  expect(homeFingerprint(scene)).toBe(before);
  const messages = result.stderr;
  for (const name of [
    'settings.json',
    'CLAUDE.md',
    'skills/mine/SKILL.md',
    'settings.local.json',
    'hooks/x.sh',
    'ide/1.lock',
  ])
    expect(messages).toContain(`~/.claude/${name} (BLOCKED — not synced)`);
  expect(messages).toMatch(/more such findings/);
  expect([...messages].some((char) => char < ' ' && char !== '\n')).toBe(false);
  const [instance = ''] = instances(scene);
  // Two names of one file: neither is taken. Everything else that was planted is refused for what it is.
  expect(
    execFileSync('find', [instance, '-type', 'f', '-printf', '%P\n'], { encoding: 'utf8' }).split('\n').sort(),
  ).toEqual(['', 'mount-point', 'project-root']);
  const shown = await scene.run(['diff', '--view', '--', '~/.claude/CLAUDE.md']);
  expect(shown.stdout).toContain('+PLANTED');
});
