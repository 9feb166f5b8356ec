import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Scene } from '../../../../support/scene.ts';
import { startMessagesApi } from '../../../../support/stand-in/messages-api.mjs';

const TOKEN = 'sk-ant-oat01-TEST-ACCESS-5d0b';
const FRESH = 'sk-ant-oat01-TEST-SECOND-77aa';
const REFRESH = 'sk-ant-ort01-TEST-REFRESH-1c9e';
const SECRETS = new RegExp([TOKEN, FRESH, REFRESH].join('|'));

function logIn(scene: Scene, accessToken: string): void {
  const claudeAiOauth = {
    accessToken,
    refreshToken: REFRESH,
    expiresAt: Date.now() + 3_600_000,
    scopes: ['user:inference'],
  };
  mkdirSync(path.join(scene.home, '.claude'), { recursive: true });
  writeFileSync(path.join(scene.home, '.claude/.credentials.json'), JSON.stringify({ claudeAiOauth }), { mode: 0o600 });
}

/** Everything that the engine tells of a session's objects and their image, and every argument on this machine. */
function engineAndArguments(id: string): string {
  const docker = (...args: string[]): string =>
    execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
  const containers = lines(docker('ps', '-aq', '--filter', `name=run-claude-${id}`));
  const volumes = lines(docker('volume', 'ls', '-q', '--filter', `name=run-claude-${id}`));
  const images = containers.map((one) => docker('inspect', '--format', '{{.Image}}', one).trim());
  const argv = readdirSync('/proc').flatMap((pid) => {
    const file = `/proc/${pid}/cmdline`;
    return /^\d+$/.test(pid) && existsSync(file) ? [readQuietly(file)] : [];
  });
  return [
    docker('inspect', ...containers, ...volumes),
    ...images.map((image) => docker('history', '--no-trunc', image)),
    // The test's own helper programs name what they look for.
    ...argv.filter((words) => !words.startsWith('grep')),
  ].join('\n');
}

function readQuietly(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // A process that has ended since, or that may not be read.
    return '';
  }
}

/** Files of run-claude that contain one of the credentials; the user's own home is left out. */
function ownFilesWithSecrets(scene: Scene): string {
  const dirs = ['state', 'cache', 'data'].map((name) => path.join(scene.root, name)).filter((dir) => existsSync(dir));
  const words = [TOKEN, FRESH, REFRESH].flatMap((word) => ['-e', word]);
  try {
    return execFileSync('grep', ['-rlaF', ...words, ...dirs, scene.project], { encoding: 'utf8' });
  } catch {
    // grep's way to say that there is none.
    return '';
  }
}

function sessionIds(scene: Scene): string[] {
  return readdirSync(path.join(scene.root, 'state/run-claude/sessions')).sort();
}

const CONVERSATION = '11111111-2222-4333-8444-555555555555';
const record = (uuid: string, content: string): string =>
  JSON.stringify({
    type: 'user',
    uuid: `00000000-0000-4000-8000-00000000000${uuid}`,
    parentUuid: null,
    sessionId: CONVERSATION,
    timestamp: '2026-01-01T00:00:00.000Z',
    cwd: '/workspace',
    message: { role: 'user', content },
  });

it('--credentials=file: no refresh token inside, a new token replaces the old one, and none is left after a SIGKILL', async () => {
  await using scene = new Scene();
  logIn(scene, TOKEN);
  const script = `
    F=$HOME/.claude/.credentials.json; readlink $F; cat $F; echo; tr '\\0' '\\n' < /proc/self/environ
    mkdir -p $HOME/.claude/projects/-workspace
    T=$HOME/.claude/projects/-workspace/${CONVERSATION}.jsonl
    printf '%s\\n' '${record('1', 'harmless')}' > $T
    printf '{"type":"user","uuid":"00000000-0000-4000-8000-000000000002","parentUuid":null,"sessionId":"${CONVERSATION}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/workspace","message":{"role":"user","content":%s}}\\n' "$(tr -d '\\n' < $F | sed 's/.*accessToken":\\("[^"]*"\\).*/\\1/')" >> $T
    echo READY; until grep -q ${FRESH.slice(-4)} $F; do sleep 0.2; done; echo REPLACED; sleep 600`;
  const child = scene.spawn(['exec', '--credentials=file', scene.project, '--', 'sh', '-c', script]);
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const see = async (word: string): Promise<void> => {
    for (let left = 1500; !output.includes(word) && left > 0; left -= 1) await sleep(100);
    expect(output).toContain(word);
  };
  await see('READY');
  expect(output).toContain('/run/credential/current');
  expect(output).toContain(`"accessToken":"${TOKEN}","refreshToken":""`);
  expect(output.split('\n').filter((line) => /^[A-Z_]+=/.test(line) && SECRETS.test(line))).toEqual([]);
  expect(output).not.toContain(REFRESH);
  logIn(scene, FRESH);
  await see('REPLACED');
  const [id = ''] = sessionIds(scene);
  expect(engineAndArguments(id)).not.toMatch(SECRETS);
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('close', resolve));
  expect(engineAndArguments(id)).not.toMatch(SECRETS);
  // The conversation that contains the token is in the session's home until it is collected.
  const status = await scene.run(['status']);
  expect(status.stdout).toContain('pending');
  expect(ownFilesWithSecrets(scene)).toBe('');
  const applied = await scene.run(['apply', '--yes']);
  expect(applied.status).toBe(0);
  const [instance = ''] = readdirSync(path.join(scene.root, 'data/run-claude/projects'));
  const back = path.join(
    scene.root,
    'data/run-claude/projects',
    instance,
    'projects/-workspace',
    `${CONVERSATION}.jsonl`,
  );
  expect(readFileSync(back, 'utf8')).toContain('harmless');
  expect(ownFilesWithSecrets(scene)).toBe('');
});

it('--isolate-claude-data: the project keeps its data in the engine, the host gets nothing; no secret after the container’s SIGKILL', async () => {
  const standIn = await startMessagesApi({ turns: [{ text: 'Kept apart.' }, { text: 'It was marimba.' }] });
  await using scene = new Scene({ apiUrl: standIn.url });
  try {
    logIn(scene, TOKEN);
    const isolated = ['--copy-workspace', '--isolate-claude-data', scene.project];
    const first = await scene.run([...isolated, '-p', 'the word is marimba']);
    expect([first.stdout.trim(), first.status]).toEqual(['Kept apart.', 0]);
    expect(first.stderr).not.toMatch(/WARNING|brought back/);
    const second = await scene.run([...isolated, '--continue', '-p', 'which word?']);
    expect(second.stdout.trim()).toBe('It was marimba.');
    expect(JSON.stringify(standIn.requests.filter(({ main }) => main).at(-1)?.body)).toContain('the word is marimba');
    expect(standIn.requests.some(({ headers }) => headers['authorization'] === `Bearer ${TOKEN}`)).toBe(true);
    const data = path.join(scene.root, 'data/run-claude/projects');
    const [key = ''] = readdirSync(data);
    expect(readdirSync(path.join(data, key)).sort()).toEqual(['mount-point', 'project-root']);

    const child = scene.spawn([
      'exec',
      scene.project,
      '--',
      'sh',
      '-c',
      'grep -rs marimba /home/agent; env; sleep 600',
    ]);
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    for (let left = 1500; !output.includes('RUN_CLAUDE=') && left > 0; left -= 1) await sleep(100);
    expect(output).not.toMatch(/marimba/);
    expect(output).not.toMatch(SECRETS);
    const id = sessionIds(scene).at(-1) ?? '';
    expect(engineAndArguments(id)).not.toMatch(SECRETS);
    execFileSync('docker', ['kill', '-s', 'KILL', `run-claude-${id}`], { stdio: 'ignore' });
    await new Promise((resolve) => child.once('close', resolve));
    expect(ownFilesWithSecrets(scene)).toBe('');
    const volumes = (): string =>
      execFileSync('docker', ['volume', 'ls', '-q', '--filter', `label=run-claude.session=data-${key}`], {
        encoding: 'utf8',
      });
    expect(volumes()).toMatch(/^run-claude-data-[0-9a-f]{16}\n$/);
    execFileSync('docker', ['volume', 'rm', volumes().trim()], { stdio: 'ignore' });
  } finally {
    await standIn.close();
  }
});
