import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

// Masked files in bind mode: a mount covers a file, and the kernel drops it when another file takes the name.

const SAFE = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' };
const VALUE = 'sk_live_51NotSeenInside0000';
const MASKS = ['--mask', '.env*', '--mask', '*.key'];

function prepared(): Scene {
  const scene = new Scene({ env: SAFE });
  scene.write('.gitignore', '.env\n');
  scene.write('.env', `KEY=${VALUE}\n`, 0o600);
  scene.write('certs/dev.key', `KEY=${VALUE}\n`);
  own(scene);
  return scene;
}

function own(scene: Scene): void {
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', '1000:1000', scene.project]);
}

/** Reads without a pause, and prints what it finds. */
const READS = 'echo ready; while :; do cat .env* certs/*.key new/*.key 2>/dev/null; done';

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the reading agent, changes the project on the host once it reads, and waits for the session's end. */
async function changedWhileRunning(
  scene: Scene,
  change: (at: (name: string) => string) => void,
  { masks = MASKS, reads = READS } = {},
): Promise<Ended> {
  const child = scene.spawn(['exec', '--bind', ...masks, scene.project, '--', 'sh', '-c', reads]);
  let stdout = '';
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      if (stdout.includes('ready')) resolve();
    });
    child.once('close', () => reject(new Error(`it ended before its agent was ready: ${stderr}`)));
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  change((name) => path.join(scene.project, name));
  return { status: await ended, stdout, stderr };
}

const CHANGES: readonly (readonly [what: string, change: (at: (name: string) => string) => void, says: RegExp])[] = [
  [
    'an editor saves by rename',
    (at) => {
      writeFileSync(at('.saved'), `KEY=${VALUE}\nMORE=1\n`);
      renameSync(at('.saved'), at('.env'));
    },
    // The new content is the user's own, whichever name it has when it is noticed.
    /\.(?:env was replaced|saved appeared) while the agent ran/,
  ],
  [
    'a file is deleted and made again',
    (at) => {
      rmSync(at('certs/dev.key'));
      writeFileSync(at('certs/dev.key'), VALUE);
    },
    /certs\/dev\.key was (replaced|renamed or deleted) while the agent ran/,
  ],
  ['a new one appears', (at) => writeFileSync(at('.env.local'), VALUE), /\.env\.local appeared while the agent ran/],
  [
    'a new one appears in a new folder',
    (at) => {
      mkdirSync(at('new'));
      writeFileSync(at('new/tls.key'), VALUE);
    },
    /new\/tls\.key appeared while the agent ran/,
  ],
];

it.each(CHANGES)('the session ends at once, and nothing of the value is shown: %s', async (_what, change, says) => {
  await using scene = prepared();
  const { status, stdout, stderr } = await changedWhileRunning(scene, change);
  expect(stderr).toMatch(/ERROR MASK_BROKEN: /);
  expect(stderr).toMatch(says);
  expect(stderr).toContain('Start a new session');
  expect([status, stdout]).toEqual([125, 'ready\n']);
  expect(stderr).not.toContain(VALUE);
  const [session] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  const left = execFileSync('docker', ['ps', '-aq', '--filter', `label=run-claude.session=${session.id}`]);
  expect(left.toString()).toBe('');
});

it('inside there are empty files, the user’s never change, and git passes over them', async () => {
  await using scene = prepared();
  scene.write('tracked.key', VALUE);
  own(scene);
  scene.git('add', 'tracked.key');
  scene.git('commit', '-qm', 'with a key');
  own(scene);
  const before = readFileSync(path.join(scene.project, '.env'));
  const script = `cat .env tracked.key certs/dev.key | wc -c; mv .env x; rm -f certs/dev.key; ln .env x
git status --porcelain; echo NEW_KEY=1 >> .env; stat -c %a .env; cat .env; mkdir -p deep/er; echo fine > deep/er/made.txt`;
  const child = scene.spawn(['exec', '--bind', ...MASKS, scene.project, '--', 'sh', '-c', `${script}; sleep 2`]);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    // In place, as many programs write: the mount still covers the file.
    if (stdout.includes('NEW_KEY')) appendFileSync(path.join(scene.project, '.env'), 'HOST=1\n');
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  expect(await ended).toBe(0);
  expect(stdout).toBe('0\n?? .gitignore\n?? certs/\n600\nNEW_KEY=1\n');
  expect(readFileSync(path.join(scene.project, '.env')).toString()).toBe(`${before.toString()}HOST=1\n`);
  expect(stderr).toContain('.env is masked and was not changed: what the session wrote to it is not in your project');
  expect(stderr).toContain('1 file changed in the project');
  expect(readFileSync(path.join(scene.project, 'deep/er/made.txt'), 'utf8')).toBe('fine\n');
  expect(existsSync(path.join(scene.project, 'x'))).toBe(false);
  const [session] = JSON.parse((await scene.run(['sessions', '--json'])).stdout);
  expect((await scene.run(['diff', '--name-only', session.id])).stdout).toBe('deep\ndeep/er\ndeep/er/made.txt\n');
});

/** Without --mask: what holds a secret and is ignored, or not tracked, has decoys inside. */
function withSecrets(): Scene {
  const scene = prepared();
  scene.write('.env', `KEY=${VALUE}\nPORT=3000\n`, 0o600);
  own(scene);
  return scene;
}

it('a secret is masked without an option, --unmask shows it, and the user’s file never changes', async () => {
  await using scene = withSecrets();
  const before = readFileSync(path.join(scene.project, '.env'), 'utf8');
  const script = 'cat .env certs/dev.key; echo NEW_KEY=1 >> .env; git status --porcelain';
  const masked = await scene.run(['exec', '--bind', scene.project, '--', 'sh', '-c', script]);
  expect(masked.stdout).toMatch(/^KEY=sk_live_\w+\nPORT=3000\nKEY=sk_live_\w+\n\?\? \.gitignore\n$/);
  expect(masked.stdout).not.toContain(VALUE);
  expect(masked.status).toBe(0);
  expect(masked.stderr).toContain('secrets     2 files masked (.env, certs/dev.key): --unmask GLOB shows one');
  expect(masked.stderr).toContain('.env is masked and was not changed');
  expect(masked.stderr).toContain('added inside, for you to add: NEW_KEY');
  expect((await scene.run(['status'])).stdout).toContain('secrets in .env (environment file): masked');
  const dry = await scene.run(['exec', '--bind', '--dry-run', scene.project, '--', 'true']);
  expect(dry.stdout).toContain('certs/dev.key (key file): masked');
  const shown = await scene.run(['exec', '--bind', '--unmask', '.env', scene.project, '--', 'cat', '.env']);
  expect([shown.status, shown.stdout]).toEqual([0, before]);
  expect(readFileSync(path.join(scene.project, '.env'), 'utf8')).toBe(before);
});

const SECRET_CHANGES: typeof CHANGES = [
  [
    'an editor saves by rename',
    (at) => {
      writeFileSync(at('.saved'), `KEY=${VALUE}\nMORE=1\n`);
      renameSync(at('.saved'), at('.env'));
    },
    // The new content is the user's own, whichever name it has when it is noticed.
    /\.(?:env was replaced|saved appeared) while the agent ran/,
  ],
  [
    'a new secret appears',
    (at) => writeFileSync(at('.env.local'), `KEY=${VALUE}\n`),
    /\.env\.local appeared while the agent ran, with a secret[\s\S]*--unmask \.env\.local/,
  ],
];

it.each(SECRET_CHANGES)('the session ends, and no secret is shown: %s', async (_what, change, says) => {
  await using scene = withSecrets();
  const reads = 'echo ready; while :; do cat .env* certs/*.key | grep -v "^PORT=" | grep -o "NotSeenInside"; done';
  const { status, stdout, stderr } = await changedWhileRunning(scene, change, { masks: [], reads });
  expect(stderr).toMatch(/ERROR MASK_BROKEN: /);
  expect(stderr).toMatch(says);
  expect([status, stdout]).toEqual([125, 'ready\n']);
});
