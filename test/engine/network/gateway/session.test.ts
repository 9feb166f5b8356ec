import { type ChildProcess, execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';
import { startMessagesApi } from '../../../support/stand-in/messages-api.mjs';

// One session of the command itself, looked through for the credential while it runs, and each part of the way out
// killed in turn. The provider is a stand-in on loopback; the host that is allowed later is a container of the test.

const TOKEN = `sk-ant-oat01-real-${randomBytes(12).toString('hex')}`;
const REFRESH = `sk-ant-ort01-real-${randomBytes(12).toString('hex')}`;
const SELDOM = { interval: 1000 };

/** Both outputs; never throws. Not the synchronous form: the stand-in answers in this very process. */
const run = (program: string, ...args: string[]): Promise<string> =>
  new Promise((done) => {
    execFile(program, args, { encoding: 'utf8', maxBuffer: 1 << 26 }, (_, stdout, stderr) => done(stdout + stderr));
  });
const docker = (...args: string[]): Promise<string> => run('docker', ...args);
const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
const labelled = async (id: string, ...what: string[]): Promise<string[]> =>
  lines(await docker(...what, '-q', '--filter', `label=run-claude.session=${id}`));

/** Reads all that the agent may read of every process it sees, and every file that a session could have put somewhere.
 * The words are given backwards, so that the search does not find itself. */
const SEARCH = `
import os, re, sys
words = [w[::-1].encode() for w in sys.argv[1:]]
found, looked = set(), {'environ': 0, 'mem': 0, 'file': 0}
def look(kind, where, data):
    looked[kind] += 1
    for n, w in enumerate(words):
        if w in data: found.add('%d in %s' % (n, where))
look('environ', 'environ of self', repr(dict(os.environ)).encode())
for pid in filter(str.isdigit, os.listdir('/proc')):
    if int(pid) == os.getpid(): continue
    for name in ('environ', 'cmdline'):
        try: look('environ', name + ' of ' + pid, open('/proc/%s/%s' % (pid, name), 'rb').read())
        except OSError: pass
    try:
        with open('/proc/%s/maps' % pid) as maps, open('/proc/%s/mem' % pid, 'rb', 0) as mem:
            for line in maps:
                m = re.match('([0-9a-f]+)-([0-9a-f]+) r', line)
                if not m: continue
                a, b = (int(x, 16) for x in m.groups())
                if b - a > 1 << 28: continue
                try: mem.seek(a); look('mem', 'memory of ' + pid, mem.read(b - a))
                except (OSError, OverflowError, ValueError): pass
    except OSError: pass
for top in ('/etc', '/home', '/root', '/run', '/tmp', '/var', '/workspace', '/dev/shm', '/mnt', '/srv'):
    for base, dirs, files in os.walk(top):
        for f in files:
            p = os.path.join(base, f)
            try:
                if os.path.isfile(p): look('file', p, open(p, 'rb').read(1 << 24))
            except OSError: pass
print('LOOKED', looked); print('FOUND', sorted(found))`;

/** Whatever this machine shows of the session's containers, objects and our own directories. */
async function hostSide(scene: Scene, id: string): Promise<string> {
  const containers = await labelled(id, 'ps', '-a');
  const parts: string[] = [];
  for (const one of containers) {
    const pids = lines(await docker('top', one, '-eo', 'pid')).map((pid) => pid.trim());
    for (const pid of pids.filter((text) => /^\d+$/.test(text)))
      parts.push(readQuietly(`/proc/${pid}/environ`), readQuietly(`/proc/${pid}/cmdline`));
    parts.push(await docker('inspect', one), await docker('logs', one), await docker('diff', one));
  }
  for (const kind of ['volume', 'network'])
    for (const one of await labelled(id, kind, 'ls')) parts.push(await docker(kind, 'inspect', one));
  const dirs = ['state', 'cache', 'data'].map((name) => path.join(scene.root, name)).filter((dir) => existsSync(dir));
  const holding = await run('grep', '-rlasF', '-e', TOKEN, '-e', REFRESH, ...dirs, scene.project);
  return [...parts, holding === '' ? '' : `${TOKEN} in ${holding}`].join('\n');
}

function readQuietly(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // A process that has ended in the meantime, or one that may not be inspected.
    return '';
  }
}

function listen(child: ChildProcess): { text: string } {
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output.text += chunk.toString();
    });
  return output;
}

it('keeps its credential outside, can be allowed one more host while it runs, and fails closed when a part is killed', async () => {
  const standIn = await startMessagesApi({ turns: [], accepts: (credential) => credential === TOKEN });
  await using scene = new Scene({ apiUrl: standIn.url });
  const server = `run-claude-late-${randomBytes(5).toString('hex')}`;
  try {
    mkdirSync(path.join(scene.home, '.claude'), { recursive: true });
    const login = {
      accessToken: TOKEN,
      refreshToken: REFRESH,
      expiresAt: Date.now() + 3_600_000,
      scopes: ['user:inference'],
    };
    writeFileSync(path.join(scene.home, '.claude/.credentials.json'), JSON.stringify({ claudeAiOauth: login }), {
      mode: 0o600,
    });
    const ranges = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'].flatMap((range) => ['--allow-address', range]);
    const child = scene.spawn(['exec', ...ranges, scene.project, '--', 'sh', '-c', 'echo READY; sleep 900']);
    const output = listen(child);
    await expect.poll(() => output.text, SELDOM).toContain('READY');
    const [id = ''] = readdirSync(path.join(scene.root, 'state/run-claude/sessions'));
    const agent = `run-claude-${id}`;
    const user = (await docker('inspect', '-f', '{{.Config.User}}', agent)).trim();
    const inside = (...argv: string[]): Promise<string> => docker('exec', '-u', user, agent, ...argv);
    const ask = (): Promise<string> =>
      inside(
        'node',
        '-e',
        `fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST', body: '{"model":"claude-opus-5","tools":[{}]}' })
        .then((r) => console.log('status', r.status), (e) => console.log('failed', e.cause?.code))`,
      );
    expect(await ask()).toContain('status 200');
    expect(standIn.requests.at(-1)?.headers['authorization']).toBe(`Bearer ${TOKEN}`);

    // Only the gateway of a pod has a port. 0A: it listens; 0B00007F is Docker's resolver.
    const tables = await docker('exec', `${agent}-gateway`, 'cat', '/proc/net/tcp', '/proc/net/tcp6');
    expect(tables).toContain('local_address');
    expect(lines(tables).filter((line) => / 0A /.test(line) && !line.includes(' 0B00007F:'))).toEqual([]);
    // The agent can start a forwarder to any address, but has no network for it.
    const address = await docker(
      'inspect',
      '-f',
      '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}',
      `${agent}-gateway`,
    );
    expect(address).toMatch(/^\d+\./);
    const far = `/usr/lib/run-claude/forwarder 5999=tcp:${address.trim()}:47800/api & sleep 1; curl -sS -m 5 http://127.0.0.1:5999/ 2>&1; kill $!`;
    expect(await inside('sh', '-c', far)).toMatch(/curl: \((52|56)\)/);

    // 0: the placeholder, which must be found, or the search is blind. 1 and 2: what must not.
    const words = ['placeholder-of-run-claude', TOKEN, REFRESH].map((word) => [...word].reverse().join(''));
    const found = await inside('python3', '-c', SEARCH, ...words);
    expect(found).toMatch(/'environ': [1-9]\d*, 'mem': \d+, 'file': [1-9]/);
    expect(found).toMatch(/FOUND \[.*0 in environ of self/);
    expect(found).not.toMatch(/[12] in (environ|cmdline|memory|\/)/);
    const outside = await hostSide(scene, id);
    expect(outside).toContain(`${agent}-gateway`);
    expect(outside.includes(TOKEN) || outside.includes(REFRESH) || output.text.includes(TOKEN)).toBe(false);

    const image = (await docker('inspect', '-f', '{{.Image}}', agent)).trim();
    const serve = `require('http').createServer((q, a) => a.end('greetings')).listen(80)`;
    const where = ['--network', agent, '--network-alias', 'late.test', '-u', '0'];
    await docker('run', '-d', '--name', server, ...where, image, 'node', '-e', serve);
    const late = (): Promise<string> => inside('curl', '-sS', '-m', '30', 'http://late.test/');
    expect(await late()).toBe(
      'run-claude: late.test is not an allowed host; the user can allow it: run-claude network allow late.test\n',
    );
    await expect.poll(() => output.text, SELDOM).toContain('run-claude network allow late.test');
    const allowed = await scene.run(['network', 'allow', 'late.test']);
    expect([allowed.status, allowed.stderr]).toEqual([
      0,
      expect.stringContaining(`session ${id} may now reach late.test`),
    ]);
    await expect.poll(late, SELDOM).toBe('greetings');
    const shown = await scene.run(['network', id]);
    expect(shown.stdout).toMatch(/late\.test:80 {2}\d+ passed, \d+ refused/);

    // The gateway's container: started again, with the rule that came later and the credential.
    await docker('kill', `${agent}-gateway`);
    await expect.poll(() => output.text, SELDOM).toContain('the gateway ended and was started again');
    await expect.poll(ask, SELDOM).toContain('status 200');
    await expect.poll(late, SELDOM).toBe('greetings');

    // The command itself: its gateway ends with it, and the agent has no way out, not even to what was allowed.
    child.kill('SIGKILL');
    await expect
      .poll(() => docker('inspect', '-f', '{{.State.Running}}', `${agent}-gateway`), SELDOM)
      .not.toMatch(/^true/);
    expect(await ask()).toMatch(/failed/);
    expect(await late()).not.toContain('greetings');
    expect((await inside('sh', '-c', 'sed 1,2d /proc/net/dev | cut -d: -f1')).trim()).toBe('lo');
    await docker('rm', '-f', server);
    const status = await scene.run(['status', id]);
    expect(`${status.stdout}${status.stderr}`).toMatch(/cut off|pending/);
    expect([...(await labelled(id, 'ps', '-a')), ...(await labelled(id, 'network', 'ls'))]).toEqual([]);
    expect(await hostSide(scene, id)).not.toMatch(new RegExp(`${TOKEN}|${REFRESH}`));
  } finally {
    await docker('rm', '-f', server);
    await standIn.close();
  }
});
