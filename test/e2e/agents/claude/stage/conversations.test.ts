import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { fillClaude, homeFingerprint, instances } from '../../../../support/claude-home.ts';
import { Scene } from '../../../../support/scene.ts';
import { linesOnScreen } from '../../../../support/shown.ts';
import { startMessagesApi } from '../../../../support/stand-in/messages-api.mjs';

const KEY = 'sk-ant-REAL-CREDENTIAL-4e8b21';
const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'step' } });

/** Conversations of one instance, by name. */
function conversations(instance: string): string[] {
  const dir = path.join(instance, 'projects', '-workspace');
  return existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith('.jsonl')) : [];
}

it('a conversation continues in the next session and in a worktree; another project cannot see it', async () => {
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
    symlinkSync('/etc/passwd', path.join(fillClaude(scene), 'skills', 'leads-out'));
    const before = homeFingerprint(scene);
    const first = await scene.run(['--copy-workspace', scene.project, '-p', 'the word is xylophone']);
    expect(first.stderr).toMatch(/skills: not staged: leads-out/);
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

it('after -p in a terminal: explore is a shell, resume opens the session’s own conversation, --continue the last applied', async () => {
  const turn = (word: string) => [
    { text: 'On it.', tools: [bash(`echo ${word} >> made.txt`)] },
    { text: `Answer ${word}.` },
  ];
  const standIn = await startMessagesApi({ turns: [...turn('ALPHA'), ...turn('BETA')] });
  await using scene = new Scene({ apiUrl: standIn.url, apiKey: KEY });
  const size = { columns: 80, rows: 24 };
  const talk = async (args: readonly string[], ask: boolean): Promise<string> => {
    await using pty = scene.pty(args, size);
    const shown = (): Promise<string> => linesOnScreen(pty, size.columns, size.rows);
    await expect.poll(shown).toMatch(/Answer (ALPHA|BETA)/);
    const found = await shown();
    await pty.enter('/exit');
    if (ask) {
      await pty.see(/\[y\/N\/d\/s\/l\/(?:r\/)?\?\]/);
      pty.send('n\r');
    }
    await pty.exited;
    return found;
  };
  try {
    for (const word of ['ALPHA', 'BETA'])
      expect((await scene.run(['--copy-workspace', scene.project, '-p', `think of ${word}`])).status).toBe(120);
    const sessions = JSON.parse((await scene.run(['sessions', '--json'])).stdout) as { id: string }[];
    const [beta = '', alpha = ''] = sessions.map(({ id }) => id);

    await using shell = scene.pty(['explore', alpha], size);
    const prompt = await shell.see(/\/workspace\$ /);
    shell.send('cat made.txt; tty; exit 7\r');
    await shell.see(/ALPHA\s+\/dev\/pts/, { from: prompt });
    expect(await shell.exited).toBe(7);

    expect(await talk(['resume', alpha], true)).toMatch(/think of ALPHA[\s\S]*Answer ALPHA/);
    expect((await scene.run(['apply', beta, '--yes'])).stderr).toContain("Claude's data: 1 file brought back");
    expect(await talk(['--copy-workspace', '--yes', '--continue', scene.project], false)).toMatch(/think of BETA/);
  } finally {
    await standIn.close();
  }
});
