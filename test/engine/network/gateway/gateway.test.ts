import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Plan } from '../../../../src/core/types/plan.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import type { Engine, EngineContainer } from '../../../../src/core/types/runtime.ts';
import { type Gateway, startGateway } from '../../../../src/network/gateway/start-gateway.ts';
import { leftOf, startAgentInSession } from '../../../support/agent-beside.ts';
import { connectForTest } from '../../../support/engine.ts';
import { BARE_POLICY, fixedCredential } from '../../../support/gateway-process.ts';
import { testImage } from '../../../support/image.ts';
import { type StandIn, startMessagesApi } from '../../../support/stand-in/messages-api.mjs';

// The real gateway and an agent's container next to it; the provider is a stand-in on this machine's loopback, which
// only the relay reaches.

const SECRET = `real-${randomBytes(12).toString('hex')}`;
const sessionId = `t${randomBytes(5).toString('hex')}`;
const sessionDir = mkdtempSync(path.join(tmpdir(), 'run-claude-gateway-'));
const output: string[] = [];
let engine: Engine;
let standIn: StandIn;
let gateway: Gateway;
let agent: EngineContainer;

async function inside(script: string): Promise<string> {
  const { stdout, stderr } = await agent.exec(['/bin/sh', '-c', script], {
    env: { ...gateway.env, PATH: '/usr/local/bin:/usr/bin:/bin' },
  });
  return `${stdout}${stderr}`;
}

const ASK = `node -e '
fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", { method: "POST", headers: { authorization: "Bearer " + process.env.CLAUDE_CODE_OAUTH_TOKEN },
  body: JSON.stringify({ model: "claude-sonnet-4-5", stream: true, tools: [{ name: "Bash" }] }) })
  .then(async (r) => console.log(r.status, (await r.text()).includes("message_stop"))).catch((e) => console.log("failed", e.cause?.code))'`;

/** A plain request through the proxy, without any tool but Node. */
const through = (url: string): string => `node -e '
require("http").get({ host: "127.0.0.1", port: 47802, path: "${url}", headers: { host: new URL("${url}").host } },
  (r) => r.on("data", (d) => process.stdout.write(d)))'`;

beforeAll(async () => {
  engine = await connectForTest();
  const image = await testImage(engine);
  standIn = await startMessagesApi({ turns: [], accepts: (credential) => credential === SECRET });
  const policy: Policy = { ...BARE_POLICY, allowHosts: ['localhost.test'] };
  const program = { kind: 'exec', argv: ['true'] } as const;
  const plan = { sessionId, sessionDir, image, policy, program } as unknown as Plan;
  gateway = await startGateway({
    engine,
    plan,
    credential: fixedCredential(SECRET),
    tell: (event) => output.push(JSON.stringify(event)),
    env: { ANTHROPIC_BASE_URL: standIn.url },
  });
  gateway.begin();
  await gateway.ready;
  agent = await startAgentInSession(gateway, { engine, sessionId, image, memoryMb: 1024, pids: 128, tmpMb: 64 });
});

afterAll(async () => {
  await agent?.remove();
  await gateway?.stop();
  await standIn?.close();
  rmSync(sessionDir, { recursive: true, force: true });
  const left = await leftOf(engine, sessionId);
  await engine.close();
  expect(left).toEqual([]);
});

it('reaches the provider on the host through a container that has no network', async () => {
  expect(await inside(ASK)).toContain('200 true');
  expect(standIn.requests.at(-1)?.headers['authorization']).toBe(`Bearer ${SECRET}`);
  const interfaces = await inside(
    'sed 1,2d /proc/net/dev | cut -d: -f1; sed 1d /proc/net/route; grep -c . /proc/net/route',
  );
  expect(interfaces.trim().split(/\s+/)).toEqual(['lo', expect.stringMatching(/^[01]$/)]);
});

/** Everything one may try on a directory of sockets besides connecting; prints what worked. */
const TAKE_OVER = `
import os, socket, fcntl, ctypes, sys
at = sys.argv[1]
one = at + '/proxy.sock'
libc = ctypes.CDLL(None, use_errno=True)
def call(result):
    if result != 0: raise OSError(ctypes.get_errno(), '')
def bound(name):
    s = socket.socket(socket.AF_UNIX); s.bind(at + name)
def path(): return os.open(one, os.O_PATH)
tries = {
    'list': lambda: os.listdir(at),
    'enter and list': lambda: (os.chdir(at), os.listdir('.')),
    'create': lambda: open(at + '/x', 'w'),
    'bind another socket': lambda: bound('/mine.sock'),
    'make a directory': lambda: os.mkdir(at + '/d'),
    'make a link': lambda: os.symlink('/tmp', at + '/l'),
    'make a hard link': lambda: os.link(one, at + '/h'),
    'make a FIFO': lambda: os.mkfifo(at + '/f'),
    'change its mode': lambda: os.chmod(one, 0o600),
    'change its mode by a descriptor': lambda: os.chmod('/proc/self/fd/%d' % path(), 0o600),
    'change the directory’s mode': lambda: os.chmod(at, 0o777),
    'give it away': lambda: os.chown(one, 1000, 1000),
    'change its times': lambda: os.utime(one),
    'mark it': lambda: os.setxattr(at, 'user.x', b'y'),
    'lock the directory': lambda: fcntl.flock(os.open(at, os.O_RDONLY), fcntl.LOCK_EX),
    'watch the directory': lambda: call(0 if libc.inotify_add_watch(libc.inotify_init(), at.encode(), 0x100) >= 0 else 1),
    'exchange': lambda: call(libc.renameat2(-100, (at + '/x').encode(), -100, one.encode(), 2)),
    'move out of the way': lambda: os.rename(one, at + '/old'),
    'move one over it': lambda: os.replace('/tmp/mine', one),
    'remove': lambda: os.unlink(one),
    'move the directory': lambda: os.rename(at, at + '2'),
    'mount over it': lambda: call(libc.mount(b'tmpfs', at.encode(), b'tmpfs', 0, None)),
    'unmount it': lambda: call(libc.umount2(b'/run/run-claude/gw', 2)),
    'mount it anew, to be written': lambda: call(libc.mount(None, b'/run/run-claude/gw', None, 32 | 4096, None)),
}
for name, attempt in tries.items():
    try: attempt(); print('worked:', name)
    except OSError: pass
print('tried', len(tries))
`;

it('gives the agent sockets that it can only connect to, not list, replace, mark or fill', async () => {
  const script = `cat > /tmp/take-over.py << 'EOF'\n${TAKE_OVER}\nEOF\ntouch /tmp/mine; python3 /tmp/take-over.py`;
  expect(await inside(`${script} /run/run-claude/gw/sockets`)).toBe('tried 24\n');
  expect(await inside('ls -ld /run/run-claude/gw/sockets | cut -c1-10')).toBe('drwx--x--x\n');
  // In a directory of the agent nearly all of it works.
  const own = await inside(
    `mkdir -p /tmp/own; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("/tmp/own/proxy.sock")'; ${script} /tmp/own`,
  );
  expect(own.match(/worked/g)?.length).toBeGreaterThan(14);
});

/** Opens many connections at once, says half a request on each, holds them; then waits for the message to release them. */
const FLOOD = `
const at = "/run/run-claude/gw/sockets/";
const many = [at + "proxy.sock", at + "api.sock", 47801, 47802];
const held = Array.from({ length: 1600 }, (_, i) => {
  const one = require("net").connect(many[i % 4]).on("error", () => {});
  one.write(i % 3 ? "CONNECT a.test:443 HT" : "POST /v1/mess");
  return one;
});
setTimeout(() => console.log("held", held.length) ?? process.exit(), 4000);`;

it('recovers after a flood that takes all connections, through the ports and directly', async () => {
  expect(await inside(`node -e '${FLOOD}'`)).toContain('held 1600');
  await expect.poll(() => inside(ASK)).toContain('200 true');
  expect(await inside(through('http://evil.test/'))).toContain('not an allowed host');
  expect(output.join('')).not.toContain('was started again');
});

it('keeps the credential unreadable from inside and in the engine', async () => {
  const script = `(cat /proc/*/environ /proc/*/cmdline; env; grep -rs real- /run /tmp /home) 2>/dev/null | tr '\\0' '\\n'`;
  const text = await inside(script);
  expect(text).toContain('placeholder');
  expect(text).not.toContain(SECRET);
  for (const name of [`run-claude-${sessionId}`, `run-claude-${sessionId}-gateway`])
    expect(execFileSync('docker', ['inspect', name], { encoding: 'utf8' })).not.toContain(SECRET);
  const files = execFileSync('docker', ['diff', `run-claude-${sessionId}-gateway`], { encoding: 'utf8' });
  expect(files).not.toMatch(/^[AC] \/(etc|usr|home)/m);
  expect(output.join('')).not.toContain(SECRET);
});

it('refuses an unlisted host in one line, and shows it to the user', async () => {
  expect(await inside(through('http://evil.test/'))).toContain('run-claude: evil.test is not an allowed host');
  await expect.poll(() => output.join('')).toContain('run-claude network allow evil.test');
});

it('restarts a forwarder that the agent killed, and a gateway that was killed', async () => {
  await inside('kill -9 $(for p in /proc/[0-9]*; do [ "$(cat $p/comm)" = forwarder ] && basename $p; done)');
  await expect.poll(() => inside(ASK)).toContain('200 true');
  execFileSync('docker', ['kill', `run-claude-${sessionId}-gateway`], { stdio: 'ignore' });
  await expect.poll(() => inside(ASK), { interval: 500 }).toContain('200 true');
  expect(output.join('')).toContain('was started again');
});
