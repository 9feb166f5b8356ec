// node bench/gateway.mjs: what the gateway costs compared with a direct connection: the same client, the same TLS server
// in a container of the benchmark, the same bridge, in one run. Needs an engine, and leaves nothing there. Medians. On a
// busy machine read the differences and ratios, not the times.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { loadSource } from './load-source.mjs';
import { main } from './scene.mjs';
import { median } from './session.mjs';

const ROUNDS = 5;
const [{ startGateway }, { connectEngine, ownerOf }, { agentSpec }, { readSeccompProfile }] = await loadSource(
  'network/gateway/start-gateway.ts',
  'engines/engine/connect.ts',
  'engines/engine/hardening/hardened.ts',
  'engines/engine/hardening/seccomp.ts',
);

/** @param {...string} words */
const docker = (...words) => execFileSync('docker', words, { encoding: 'utf8', maxBuffer: 1 << 26 });

const SERVER = `
const { readFileSync } = require('fs');
const block = Buffer.alloc(1 << 20);
require('https').createServer({ key: readFileSync('/srv/key.pem'), cert: readFileSync('/srv/cert.pem') }, (asked, answer) => {
  const event = (type) => 'event: ' + type + '\\ndata: {"type":"' + type + '"}\\n\\n';
  if (asked.url === '/big') {
    answer.writeHead(200, { 'content-length': 512 * block.length });
    let left = 512;
    const more = () => { while (left > 0) { left -= 1; if (!answer.write(block)) return answer.once('drain', more); } answer.end(); };
    more();
  } else if (asked.url === '/hold') setTimeout(() => answer.end('held'), 1000);
  else if (asked.method === 'POST') asked.resume().on('end', () => {
    answer.writeHead(200, { 'content-type': 'text/event-stream' });
    answer.end(event('message_start') + event('message_stop'));
  });
  else answer.end('tiny');
}).listen(443, () => console.log('listening'));`;

const id = `b${createHash('sha256').update(String(process.pid)).digest('hex').slice(0, 9)}`;
const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-bench-gateway-'));
const image = execFileSync(process.execPath, [main, 'build'], { encoding: 'utf8' }).trim();
const engine = await connectEngine({
  choice: 'auto',
  env: process.env,
  home: homedir(),
  platform: process.platform,
  owner: ownerOf('bench'),
});
/** @param {string} word */
const openssl = (word) => execFileSync('openssl', word.split(' '), { cwd: dir, stdio: 'ignore' });
openssl(
  'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -subj /CN=bench -days 2 -addext subjectAltName=DNS:bench.test,DNS:provider.test',
);
writeFileSync(path.join(dir, 'server.cjs'), SERVER);
const secret = { kind: 'oauth', value: 'bench' };
const credential = { name: 'bench', kind: 'oauth', current: async () => secret, refresh: async () => secret };
const policy = {
  network: 'gateway',
  credentials: 'broker',
  allowHosts: ['bench.test'],
  allowAddresses: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  networkPresets: [],
  brokers: [],
};
/** @param {string} sessionId */
async function gatewayFor(sessionId) {
  const gateway = await startGateway({
    engine,
    plan: { sessionId, sessionDir: dir, image, policy, program: { kind: 'exec', argv: ['true'] } },
    credential,
    tell: () => undefined,
    env: { ANTHROPIC_BASE_URL: 'https://provider.test', NODE_EXTRA_CA_CERTS: path.join(dir, 'cert.pem') },
  });
  gateway.begin();
  await gateway.ready;
  return gateway;
}

/** @param {() => Promise<unknown>} step */
async function timed(step) {
  const start = performance.now();
  await step();
  return performance.now() - start;
}

const readyMs = [];
const plainMs = [];
for (let round = 0; round < ROUNDS; round += 1) {
  /** @type {any} */
  let made;
  readyMs.push(
    await timed(async () => {
      made = await gatewayFor(`${id}r${round}`);
    }),
  );
  await made.stop();
  plainMs.push(await timed(async () => void docker('run', '--rm', image, 'node', '-e', '0')));
}

const gateway = await gatewayFor(id);
/** @type {any} */
let agent;
const [server, straight] = [`run-claude-${id}-server`, `run-claude-${id}-straight`];
try {
  const bridge = ['--network', `run-claude-${id}`, '--label', `run-claude.session=${id}`, '-u', '0'];
  docker(
    'run',
    '-d',
    '--name',
    server,
    ...bridge,
    '--network-alias',
    'bench.test',
    '--network-alias',
    'provider.test',
    '-v',
    `${dir}:/srv:ro`,
    image,
    'node',
    '/srv/server.cjs',
  );
  docker('run', '-d', '--init', '--name', straight, ...bridge, image, 'sleep', '3600');
  agent = await engine.create(
    agentSpec({
      sessionId: id,
      image,
      seccomp: await readSeccompProfile(),
      user: '1000:1000',
      argv: ['/bin/sleep', '3600'],
      forwards: gateway.forwards,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...gateway.env },
      workdir: '/',
      mounts: gateway.mounts,
      network: gateway.agentNetwork,
      limits: { memoryMb: 2048, cpus: 0, pids: 256, tmpMb: 64 },
      tty: false,
      stdin: 'none',
    }),
  );
  await agent.start();
  while (!docker('logs', server).includes('listening')) await new Promise((done) => setTimeout(done, 100));
  const script = readFileSync(path.join(import.meta.dirname, 'gateway-client.mjs'));
  const run = ['node', '--input-type=module', '-'];
  /** @param {boolean} through @param {string[]} argv @param {Buffer} [stdin] */
  const client = async (through, argv, stdin = Buffer.alloc(0)) => {
    if (!through) return execFileSync('docker', ['exec', '-i', straight, ...argv], { input: stdin, encoding: 'utf8' });
    const { stdout, stderr } = await agent.exec(argv, { env: gateway.env, stdin });
    if (stdout.length === 0) throw new Error(String(stderr));
    return String(stdout);
  };
  const by = {
    straight: JSON.parse(await client(false, run, script)),
    through: JSON.parse(await client(true, run, script)),
  };
  const curl = ['curl', '-sSk', '-o', '/dev/null', '-w', '%{speed_download}', 'https://bench.test/big'];
  /** @type {{ straight: number[], through: number[] }} */
  const speed = { straight: [], through: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    speed.straight.push(Number(await client(false, curl)) / 1e6);
    speed.through.push(Number(await client(true, curl)) / 1e6);
  }
  /** @type {[string, number, number, string][]} */
  const rows = [
    ['first byte over a new TLS connection, ms', median(by.straight.fresh), median(by.through.fresh), 'difference'],
    [
      'first byte of the provider (200 KB asked, connection kept), ms',
      median(by.straight.brokered),
      median(by.through.brokered),
      'difference',
    ],
    ['512 MB over TLS, MB/s', median(speed.straight), median(speed.through), 'ratio'],
    ['200 connections at once, each held 1 s: answered', by.straight.served, by.through.served, 'ratio'],
    ['the same, ms until the last', by.straight.manyMs, by.through.manyMs, 'ratio'],
    ['gateway ready, ms (compared with: docker run --rm IMAGE node -e 0)', median(plainMs), median(readyMs), 'ratio'],
  ];
  process.stdout.write('| | straight | through the gateway | |\n|---|---:|---:|---:|\n');
  for (const [what, one, other, how] of rows)
    process.stdout.write(
      `| ${what} | ${one.toFixed(1)} | ${other.toFixed(1)} | ${how === 'ratio' ? `${(other / one).toFixed(2)} of it` : `${(other - one).toFixed(1)} more`} |\n`,
    );
} finally {
  await agent?.remove();
  execFileSync('docker', ['rm', '-f', server, straight], { stdio: 'ignore' });
  await gateway.stop();
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
}
