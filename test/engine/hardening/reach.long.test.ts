import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { skipUnless } from '../../support/requirement.ts';

// Init itself, in a network namespace of the test's own, where stand-ins have the addresses of a cluster.

const SOURCES = path.resolve(import.meta.dirname, '../../../images/init');
const isAble = process.platform === 'linux' && process.getuid?.() === 0;

let dir: string;
let init: string;

beforeAll(() => {
  if (!isAble) return;
  dir = mkdtempSync(path.join(tmpdir(), 'run-claude-reach-'));
  init = path.join(dir, 'init');
  const sources = readdirSync(SOURCES).filter((name) => name.endsWith('.c'));
  const flags = ['-static', '-O1', '-std=gnu11', '-Wall', '-Wextra', '-Werror'];
  execFileSync('gcc', [...flags, '-o', init, ...sources.map((name) => path.join(SOURCES, name))]);
});

afterAll(() => {
  if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
});

beforeEach((context) => skipUnless(isAble, 'needs root on Linux, for a network namespace', context));

const LINES = [
  'unreachable api-server',
  'unreachable name-server',
  'unreachable metadata 169.254.169.254 80',
  'unreachable metadata fd00:ec2::254 80',
  'unreachable neighbour 10.0.0.9 47801',
].join('\n');

/** Answers at this address, over TCP or as a name server over UDP. */
const tcp = (address: string, port: number): string => `
  require('node:net').createServer((one) => one.end()).listen(${port}, '${address}', ready);`;
const udp = (address: string): string => `
  const socket = require('node:dgram').createSocket('udp4');
  socket.on('message', (query, from) => socket.send(query, from.port, from.address)).bind(53, '${address}', ready);`;

interface Scene {
  readonly standIn: string;
  readonly resolver: string;
  readonly later: string;
}

/**
 * Runs init in a namespace with these addresses on loopback and this stand-in. All other packets are lost. `later`: a script
 * that runs next to init.
 */
async function start(
  addresses: readonly string[],
  { standIn = 'ready();', resolver = '127.0.0.1', later = ':' }: Partial<Scene> = {},
) {
  const script = `
    set -e
    ip link set lo up
    ip link add out type veth peer name nowhere
    ip link set out up
    ip link set nowhere up
    ip addr add 10.9.0.2/24 dev out
    ip route add default dev out
    ip -6 addr add fd00:9::2/64 dev out nodad
    ip -6 route add default dev out
    for address in ${addresses.join(' ')}; do ip addr add "$address" dev lo; done
    printf 'nameserver %s\\n' "$RESOLVER" >"$DIR/resolv.$$"
    mount --bind "$DIR/resolv.$$" /etc/resolv.conf
    mkfifo "$DIR/ready.$$"
    node -e "$STAND_IN" >"$DIR/ready.$$" &
    read -r line <"$DIR/ready.$$"
    ( eval "$LATER" ) &
    status=0
    KUBERNETES_SERVICE_HOST=10.96.0.1 KUBERNETES_SERVICE_PORT=443 "$INIT" --prove "$LINES" -- echo started || status=$?
    kill %1
    exit "$status"`;
  const ready = `const ready = () => console.log('ready'); setTimeout(() => {}, 60000); ${standIn}`;
  const env = { ...process.env, DIR: dir, INIT: init, LINES, STAND_IN: ready, RESOLVER: resolver, LATER: later };
  const words = ['--net', '--mount', '--propagation', 'private', 'bash', '-c', script];
  const child = spawn('unshare', words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, status] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((done) => child.on('close', done)),
  ]);
  return { status, lines: stdout.trimEnd().split('\n'), stderr };
}

it('starts the program where nothing answers', async () => {
  expect(await start([])).toEqual({ status: 0, lines: ['proven', 'started'], stderr: '' });
});

it.concurrent.each<[string, readonly string[], string | undefined, string | undefined, string]>([
  ['the API server', ['10.96.0.1'], tcp('10.96.0.1', 443), undefined, 'the API server 10.96.0.1 port 443'],
  [
    'the name server over UDP',
    ['10.96.0.10'],
    udp('10.96.0.10'),
    undefined,
    'the name server 10.96.0.10 port 53 (UDP)',
  ],
  ['the name server over TCP', ['10.96.0.10'], tcp('10.96.0.10', 53), undefined, 'the name server 10.96.0.10 port 53'],
  [
    'the name server of resolv.conf',
    ['10.3.0.3'],
    udp('10.3.0.3'),
    '10.3.0.3',
    'the name server 10.3.0.3 port 53 (UDP)',
  ],
  [
    'the metadata of a cloud',
    ['169.254.169.254'],
    tcp('169.254.169.254', 80),
    undefined,
    'metadata 169.254.169.254 port 80',
  ],
  ['its IPv6 address', ['fd00:ec2::254'], tcp('fd00:ec2::254', 80), undefined, 'metadata fd00:ec2::254 port 80'],
  ['a neighbour', ['10.0.0.9'], tcp('10.0.0.9', 47_801), undefined, 'neighbour 10.0.0.9 port 47801'],
  ['a neighbour that refuses the connection', ['10.0.0.9'], undefined, undefined, 'neighbour 10.0.0.9 port 47801'],
])(
  'starts nothing where this answers: %s',
  async (_, addresses, standIn = 'ready();', resolver = '127.0.0.1', place) => {
    const { status, lines } = await start(addresses, { standIn, resolver });
    expect([status, lines]).toEqual([125, [expect.stringMatching(/^network policy: /)]]);
    expect(lines[0]).toContain(`${place} answers`);
  },
);

it('waits for a policy that is enforced some seconds after the start', async () => {
  const later = 'sleep 3; ip addr del 10.0.0.9 dev lo';
  expect(await start(['10.0.0.9'], { later })).toMatchObject({ status: 0, lines: ['proven', 'started'] });
});

it('names every place that answers, and refuses a line that it does not know', async () => {
  const all = await start(['10.96.0.1', '10.0.0.9']);
  expect(all.lines[0]).toMatch(/the API server 10\.96\.0\.1 port 443 answers; .*neighbour 10\.0\.0\.9/);
  const words = ['--prove', 'unreachable GATEWAY', '--', 'echo', 'started'];
  const { status, stdout } = spawnSync(init, words, { encoding: 'utf8' });
  expect([status, stdout]).toEqual([125, "network policy: init does not know the place 'GATEWAY'\n"]);
  const unreplaced = spawnSync(init, ['--prove', 'unreachable neighbour GATEWAY_POD_IP 1', '--', 'true'], {
    encoding: 'utf8',
  });
  expect(unreplaced.stdout).toContain('neighbour GATEWAY_POD_IP port 1 is not an address');
});
