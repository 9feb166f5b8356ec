import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Plan } from '../../../../src/core/types/plan.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import type { Engine, EngineContainer } from '../../../../src/core/types/runtime.ts';
import { allowHost } from '../../../../src/network/gateway/rules/live-rules.ts';
import { type Gateway, startGateway } from '../../../../src/network/gateway/start-gateway.ts';
import { leftOf, listening, makeCertificates, startAgentInSession } from '../../../support/agent-beside.ts';
import { connectForTest } from '../../../support/engine.ts';
import { testImage } from '../../../support/image.ts';

// Real clients in an agent's container, the real gateway, and servers in a third container on the gateway's bridge,
// under a company's CA that the host trusts. Nothing leaves this machine.

const sessionId = `t${randomBytes(5).toString('hex')}`;
const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-clients-'));
const servers = `run-claude-${sessionId}-servers`;
const HEADER = `Basic ${randomBytes(12).toString('base64')}`;
const NAMES = ['registry.test', 'pypi.test', 'git.test', 'repo.test', 'api.test', 'plain.test', 'evil.test'];
const BROKER = { header: 'Authorization', from: ['echo', HEADER], methods: ['GET'] };
const output: string[] = [];
let engine: Engine;
let gateway: Gateway;
let agent: EngineContainer;

const docker = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8' });

async function inside(script: string): Promise<string> {
  const env = { ...gateway.env, PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', LANG: 'C.UTF-8' };
  const { stdout, stderr } = await agent.exec(['/bin/sh', '-c', script], { env });
  return `${stdout}${stderr}`;
}

const WHEEL = `import zipfile
w = zipfile.ZipFile('/tmp/tiny-1.0.0-py3-none-any.whl', 'w')
w.writestr('tiny.py', 'word = "from the index"\\n')
d = 'tiny-1.0.0.dist-info/'
w.writestr(d + 'METADATA', 'Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0.0\\n')
w.writestr(d + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
w.writestr(d + 'RECORD', '')
w.close()`;
const PREPARE = `set -e; cd /tmp; mkdir package
echo '{"name":"tiny","version":"1.0.0","main":"i.js"}' > package/package.json
echo 'module.exports = "from the registry"' > package/i.js; tar czf tiny.tgz package
python3 /srv/wheel.py
git init -q -b main w; cd w; echo 'from the repository' > f; git add f
git -c user.name=t -c user.email=t@t commit -q -m one; mkdir /tmp/git; git clone -q --bare /tmp/w /tmp/git/r.git
git -C /tmp/git/r.git config http.receivepack true
exec node /srv/servers.mjs "$HEADER"`;

beforeAll(async () => {
  engine = await connectForTest();
  const image = await testImage(engine);
  makeCertificates(dir, NAMES);
  copyFileSync(path.join(import.meta.dirname, 'servers.mjs'), path.join(dir, 'servers.mjs'));
  writeFileSync(path.join(dir, 'wheel.py'), WHEEL);
  copyFileSync('/usr/bin/gh', path.join(dir, 'gh'));
  const policy = {
    network: 'gateway',
    credentials: 'none',
    allowHosts: ['registry.test', 'pypi.test', 'plain.test'],
    // Whatever range the engine gives its bridges.
    allowAddresses: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
    networkPresets: [],
    brokers: [
      { ...BROKER, host: 'git.test' },
      { ...BROKER, host: 'repo.test', requests: ['GET /r.git/**'] },
      { ...BROKER, host: 'api.test', requests: ['GET /api/v3/repos/o/r/**', 'POST /api/v3/repos/o/r/issues'] },
    ],
  } as unknown as Policy;
  gateway = await startGateway({
    engine,
    plan: { sessionId, sessionDir: dir, image, policy, program: { kind: 'exec', argv: ['true'] } } as unknown as Plan,
    credential: undefined,
    tell: (event) => output.push(JSON.stringify(event)),
    env: { NODE_EXTRA_CA_CERTS: path.join(dir, 'ca.pem'), ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' },
  });
  gateway.begin();
  await gateway.ready;
  const aliases = NAMES.flatMap((name) => ['--network-alias', name]);
  const where = ['--network', `run-claude-${sessionId}`, ...aliases, '-v', `${dir}:/srv:ro`, '-u', '0'];
  const label = ['--label', `run-claude.session=${sessionId}`];
  docker('run', '-d', '--name', servers, ...label, ...where, '-e', `HEADER=${HEADER}`, image, 'sh', '-c', PREPARE);
  agent = await startAgentInSession(gateway, { engine, sessionId, image });
  await listening(servers);
});

afterAll(async () => {
  await agent?.remove();
  execFileSync('docker', ['rm', '-f', servers], { stdio: 'ignore' });
  await gateway?.stop();
  const left = await leftOf(engine, sessionId);
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
  expect(left).toEqual([]);
});

const FETCH = (url: string): string =>
  `node -e 'fetch("${url}").then(async (r) => console.log(await r.text())).catch((e) => console.log("failed", String(e), String(e.cause)))'`;
const PYTHON = (url: string, how: string): string =>
  how === 'urllib'
    ? `python3 -c 'import urllib.request as u; print(u.urlopen("${url}").read())' 2>&1 | tail -1`
    : `python3 -c 'from pip._vendor import requests as r; print(r.get("${url}").text.strip())' 2>&1 | tail -1`;

it('curl, git, npm, pip, fetch, urllib and requests work with allowed hosts', async () => {
  const text = await inside(`cd /tmp; exec 2>&1
curl -sS https://plain.test/a; curl -sS http://plain.test/b; curl -sS --http2 https://registry.test/c
${FETCH('https://plain.test/d')}
${PYTHON('https://plain.test/e', 'urllib')}
${PYTHON('https://plain.test/f', 'requests')}
git clone -q https://git.test/r.git && cat r/f && git -C r fetch -q && echo fetched
mkdir n; cd n; npm install --no-audit --no-fund --registry https://registry.test tiny && node -p 'require("tiny")'
pip install -q --disable-pip-version-check --no-cache-dir --target /tmp/p --index-url https://pypi.test/simple tiny
PYTHONPATH=/tmp/p python3 -c 'import tiny; print(tiny.word)'`);
  expect(text.match(/greetings from plain\.test/g), text).toHaveLength(5);
  for (const part of [
    'greetings from registry.test',
    'from the repository',
    'fetched',
    'from the registry',
    'from the index',
  ])
    expect(text).toContain(part);
});

it('the same clients are refused for a host that is not listed, until the user allows it', async () => {
  const text = await inside(`cd /tmp; exec 2>&1
curl -sS https://evil.test/; curl -sS http://evil.test/; curl -sSv https://evil.test/ | grep '< HTTP'
${FETCH('https://evil.test/')}
${PYTHON('https://evil.test/', 'urllib')}
${PYTHON('https://evil.test/', 'requests')}
git clone -q https://evil.test/r.git; npm view --fetch-retries=0 --registry https://evil.test tiny
pip download -q --retries 0 --disable-pip-version-check --no-cache-dir --index-url https://evil.test/simple tiny
echo over`);
  expect(text).not.toMatch(/greetings|from the/);
  expect(text).toContain(
    'run-claude: evil.test is not an allowed host; the user can allow it: run-claude network allow evil.test\n',
  );
  expect(text.match(/403/g)?.length, text).toBeGreaterThanOrEqual(6);
  expect(output.filter((one) => one.includes('refused evil.test:443'))).toHaveLength(1);
  allowHost(dir, 'evil.test');
  await expect.poll(() => inside('curl -sS https://evil.test/')).toContain('greetings from evil.test');
  const totals = gateway.hosts().filter(({ host, port }) => host === 'evil.test' && port === 443);
  expect(totals).toEqual([expect.objectContaining({ passed: expect.any(Number), refused: expect.any(Number) })]);
});

it('a brokered secret allows reads and no writes; the agent reaches neither its value nor another way out', async () => {
  const push = 'https://git.test/r.git/info/refs?service=git-receive-pack';
  // Control: with the header, asked directly, the server would take a push.
  const direct = `curl -s -o /dev/null -w '%{http_code}' -k -H "Authorization: $HEADER" -H 'Host: git.test' --resolve git.test:443:127.0.0.1 '${push}'`;
  expect(docker('exec', servers, 'sh', '-c', direct)).toBe('200');
  const address = docker(
    'inspect',
    '-f',
    '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{.Gateway}}{{end}}',
    servers,
  );
  const [server = '', host = ''] = address.trim().split(' ');
  const text = await inside(`exec 2>&1; P='curl -sS -m 20 -o /dev/null -w %{http_code}/%{http_connect}\\n'
$P '${push}'; $P -X POST https://git.test/r.git/git-receive-pack; $P -X POST https://git.test/any
for to in https://${server} http://${server} http://${host}:2375 https://git.test:8443 http://169.254.169.254 https://[::1]; do $P $to; done
unset HTTP_PROXY http_proxy HTTPS_PROXY https_proxy ALL_PROXY all_proxy
for to in https://${server} http://${host} http://169.254.169.254 http://plain.test; do $P $to; done
curl -sS -m 20 -v https://git.test/ --proxy http://127.0.0.1:47802 2>&1 | grep -ci '${HEADER}'; getent hosts plain.test; echo over`);
  expect(text.match(/^403\//gm)?.length, text).toBeGreaterThanOrEqual(4);
  expect(text).not.toMatch(/^2\d\d\//m);
  expect(
    text.match(/Couldn't connect|Could not resolve|Network is unreachable|Failed to connect/g)?.length,
    text,
  ).toBeGreaterThanOrEqual(4);
  expect(text).toMatch(/\n0\nover/);
  const seen = [
    docker('inspect', `run-claude-${sessionId}`, `run-claude-${sessionId}-gateway`),
    readFileSync(gateway.log, 'utf8'),
  ];
  expect([...seen, ...output].join('')).not.toContain(HEADER);
});

it('git, gh and curl do with a secret for single requests what its rules name, and nothing else', async () => {
  const text = await inside(`cd /tmp; exec 2>&1
git clone -q https://repo.test/r.git one && cat one/f; git clone -q https://repo.test/other.git two
curl -sS -o gh http://plain.test/gh; chmod +x gh
export GH_HOST=api.test GH_ENTERPRISE_TOKEN=placeholder GH_CONFIG_DIR=/tmp/ghc NO_COLOR=1
ask() { echo "== $*"; /tmp/gh "$@" | head -c 300; echo; }
ask api repos/o/r/pulls; ask api -X POST repos/o/r/issues -f title=a; ask api -X DELETE repos/o/r; ask api repos/o/other/pulls
ask api user; ask api graphql -f query='{viewer{login}}'; ask api 'repos/o/r/../../../user'; ask repo view o/r
C='curl -sS -o /dev/null -w %{http_code}\\n'
$C 'https://repo.test/r.git/info/refs?service=git-receive-pack'; $C -X POST https://repo.test/r.git/git-receive-pack
for p in api/v3/repos/o/r api/v3/user api/v3/repos/o/r/..%2f..%2fx api/v3/repos/o/r//x 'api/v3/repos/o/r/x;y' api/graphql; do $C --path-as-is "https://api.test/$p"; done
$C -L --max-redirs 3 -X PUT https://api.test/api/v3/repos/o/r; $C http://api.test/api/v3/user
$C -H 'Connection: Upgrade' -H 'Upgrade: websocket' https://api.test/api/v3/repos/o/r
echo over`);
  const [first = '', ...answers] = text.split(/^== /m);
  expect(first).toContain('from the repository');
  expect(first.match(/403/g)?.length, text).toBe(1);
  const passed = ['GET /api/v3/repos/o/r/pulls', 'POST /api/v3/repos/o/r/issues'];
  expect(
    answers.slice(0, 2).map((one) => /"asked":"([^"]*)"/.exec(one)?.[1]),
    text,
  ).toEqual(passed);
  for (const one of answers.slice(2)) expect(one).not.toContain('"asked"');
  expect(
    answers.slice(2).filter((one) => /403/.test(one)),
    text,
  ).toHaveLength(6);
  const codes = text.slice(text.lastIndexOf('== ')).match(/^\d{3}$/gm);
  expect(codes, text).toEqual(['403', '403', '200', ...Array(8).fill('403')]);
  expect(text).not.toContain(HEADER);
});
