import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { httpServer, leftOnEngine, nodeService, sceneWithServices } from '../../../support/service-scene.ts';

/** Runs what it is asked to, as a database does whose user may start programs, and answers with the output. */
const OPEN = httpServer(
  8080,
  "new Promise(d=>{let s='';r.on('data',c=>s+=c).on('end',()=>require('child_process').execFile('bash',['-c',s],{timeout:20000},(e,o,x)=>d(o+x)))})",
);

const inService = (script: string): string => `curl -sS --data-binary @- http://open:8080 <<'END'\n${script}\nEND`;

/** What a hostile service tries; each line of its answer is what it got. */
const SERVICE = [
  'echo "caps $(grep -E "^Cap(Eff|Bnd|Prm)" /proc/self/status | cut -f2 | sort -u | tr -d "\\n")"',
  'echo "nnp $(grep NoNewPrivs /proc/self/status | cut -f2) seccomp $(grep "^Seccomp:" /proc/self/status | cut -f2)"',
  'echo "uid $(id -u)"',
  'echo "net $(ls /sys/class/net | tr "\\n" " ")"',
  'echo "workspace $(ls -A /workspace | wc -l)"',
  'echo "secret $(grep -rasl "$(echo TOKEN-IN""-URL)" /workspace /home /run /tmp /data 2>/dev/null | wc -l)"',
  'echo "gateway $(find /run/run-claude -name "*.sock" 2>/dev/null | sort | tr "\\n" " ")"',
  'echo "root $(touch /usr/bin/x 2>/dev/null && echo written || echo read-only)"',
  'echo "neighbour $(curl -sS -m 3 http://127.0.0.1:7000 2>/dev/null || echo unreachable)"',
  'echo "out $(curl -sS -m 3 http://1.1.1.1 2>/dev/null || echo unreachable)"',
  'echo "agent $(pgrep -f sleep-of-[a]gent >/dev/null && echo seen || echo unseen)"',
].join('\n');

it('a hostile service gets nothing of the agent, the gateway, its neighbours and the network', async () => {
  const word = randomBytes(8).toString('hex');
  await using scene = sceneWithServices(
    nodeService('open', 8080, OPEN) + nodeService('store', 7000, httpServer(7000, JSON.stringify(word))),
  );
  const script = `(exec -a sleep-of-agent sleep 60) & curl -sS http://store:7000; echo; ${inService(SERVICE)}`;
  const result = await scene.run(['exec', '--', 'bash', '-c', script]);
  expect(result.stdout.split('\n'), result.stderr).toEqual([
    word,
    'caps 0000000000000000',
    'nnp 1 seccomp 2',
    'uid 61000',
    'net lo ',
    'workspace 0',
    'secret 0',
    'gateway /run/run-claude/gw/sockets/server.sock ',
    'root read-only',
    'neighbour unreachable',
    'out unreachable',
    'agent unseen',
    '',
  ]);
});

/** What an agent tries on a service's files; each line is what it got. */
const AGENT = [
  'p=/run/run-claude/peers/service.open',
  'echo "mount $(grep " $p " /proc/self/mountinfo | cut -d" " -f6 | cut -d, -f1)"',
  'echo "list $(ls $p/sockets 2>/dev/null | wc -l)"',
  'echo "write $(touch $p/x 2>/dev/null || touch $p/sockets/x 2>/dev/null && echo done || echo refused)"',
  'echo "replace $(rm -f $p/sockets/server.sock 2>/dev/null && echo done || echo refused)"',
  'echo "others $(find / -xdev -name "server.sock" 2>/dev/null | wc -l)"',
  'echo "data $(ls /run/run-claude/data /data 2>/dev/null | wc -l)"',
  'echo "remount $(mount -o remount,rw $p 2>/dev/null && echo done || echo refused)"',
].join('\n');

it("an agent can use a service's port, and nothing else of it; a link in place of its socket leads nowhere new", async () => {
  await using scene = sceneWithServices(nodeService('open', 8080, OPEN));
  // The service replaces its socket by links into what the agent's container has: the forwarder opens them as the agent.
  const links =
    'cd /run/run-claude/gw/sockets && rm server.sock && ln -s /run/run-claude/gw/sockets/proxy.sock server.sock';
  const script = [
    AGENT,
    inService(`sleep 1; ${links}`).replace('curl -sS', 'curl -sS -m 10'),
    'echo "linked $(curl -sS -m 5 -o /dev/null -w "%{http_code}" http://127.0.0.1:8080/ 2>/dev/null)"',
  ].join('\n');
  const result = await scene.run(['exec', '--', 'bash', '-c', script]);
  expect(
    result.stdout.split('\n').filter((line) => line !== ''),
    result.stderr,
  ).toEqual([
    'mount ro',
    'list 0',
    'write refused',
    'replace refused',
    'others 0',
    'data 0',
    'remount refused',
    // The gateway's proxy, which the agent has anyway, refuses a request that names no allowed host.
    expect.stringMatching(/^linked (000|403|400)$/),
  ]);
  expect(leftOnEngine(scene)).toEqual([]);
});

/** The program that counts has the user of the service. */
const HOLD_UP =
  'sleep 6; for p in $(pgrep -x bash); do [ $p = $$ ] || kill -STOP $p; done; head -c 40000000 /dev/zero >/data/big';

/** Ways to fill the disk, and what is printed about the service. */
const FILLING: readonly (readonly [string, string, string])[] = [
  ['plain', 'head -c 40000000 /dev/zero >/data/big', 'its data is larger than 16m'],
  ['sockets', 'head -c 40000000 /dev/zero >/run/run-claude/gw/sockets/big', 'its data is larger than 16m'],
  ['unlisted', 'mkdir -m 300 /data/d; head -c 40000000 /dev/zero >/data/d/big', 'it may not list'],
  ['stopped', HOLD_UP, 'its data cannot be counted'],
];

it('a service that fills its disk is stopped, however it hides that, and the session goes on', async () => {
  const port = (at: number): number => 8080 + at;
  const service = (name: string, at: number): string =>
    nodeService(name, port(at), OPEN.replaceAll('8080', String(port(at))), 'disk = "16m"');
  await using scene = sceneWithServices(FILLING.map(([name], at) => service(name, at)).join(''));
  const fill = FILLING.map(
    ([name, script], at) => `curl -sS -m 30 -d '${script}; echo filled' http://${name}:${port(at)} &`,
  );
  const gone = FILLING.map(([name], at) => `curl -sS -m 2 http://${name}:${port(at)} 2>/dev/null || echo gone`);
  const result = await scene.run(['exec', '--', 'bash', '-c', `${fill.join('\n')}\nsleep 140\n${gone.join('\n')}`]);
  for (const [name, , why] of FILLING)
    expect(result.stderr).toMatch(new RegExp(`the service ${name} was stopped: .*${why}`));
  expect(result.stdout).toContain('gone\n'.repeat(FILLING.length));
});
