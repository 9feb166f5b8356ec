import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Plan } from '../../../../src/core/types/plan.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import type { Engine, EngineContainer } from '../../../../src/core/types/runtime.ts';
import { type Gateway, startGateway } from '../../../../src/network/gateway/start-gateway.ts';
import { leftOf, listening, makeCertificates, startAgentInSession } from '../../../support/agent-beside.ts';
import { connectForTest } from '../../../support/engine.ts';
import { testImage } from '../../../support/image.ts';

// cargo, go, apt, maven and gradle of Debian, laid over our image, with nothing but the environment that the gateway
// gives: each gets one package from a registry of the test's own, and is refused by one that is not allowed.

const sessionId = `t${randomBytes(5).toString('hex')}`;
const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-toolchains-'));
const servers = `run-claude-${sessionId}-servers`;
const tools = `run-claude-tools:${sessionId}`;
const NAMES = ['crates.test', 'go.test', 'deb.test', 'maven.test'];
let engine: Engine;
let gateway: Gateway;
let agent: EngineContainer;

const docker = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8', maxBuffer: 1 << 26 });

async function inside(script: string): Promise<string> {
  const env = { ...gateway.env, PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp/home', LANG: 'C.UTF-8' };
  const { stdout, stderr } = await agent.exec(['/bin/sh', '-c', `mkdir -p $HOME; exec 2>&1; cd /tmp\n${script}`], {
    env,
  });
  return `${stdout}${stderr}`;
}

/** Debian's packages over our image, the company's CA trusted as finish.sh trusts the host's. */
function buildTools(image: string): void {
  const dockerfile = `FROM ${image}
USER root
COPY ca.pem /usr/local/share/ca-certificates/company.crt
RUN update-ca-certificates && apt-get update && mkdir -p /usr/share/man/man1 \\
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \\
    cargo golang-go default-jdk-headless maven gradle ca-certificates-java \\
 && rm -rf /var/lib/apt/lists/*
`;
  writeFileSync(path.join(dir, 'Dockerfile'), dockerfile);
  docker('build', '-q', '-t', tools, dir);
}

function policy(allowHosts: readonly string[]): Policy {
  return {
    network: 'gateway',
    credentials: 'none',
    allowHosts,
    allowAddresses: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
    networkPresets: [],
    // One that is never asked, so that there is a session CA and its variables.
    brokers: [{ host: 'unused.test', header: 'Authorization', from: ['echo', 'x'], methods: ['GET'] }],
  } as unknown as Policy;
}

beforeAll(async () => {
  engine = await connectForTest();
  const image = await testImage(engine);
  makeCertificates(dir, NAMES);
  for (const name of ['files.mjs', 'registries.sh'])
    copyFileSync(path.join(import.meta.dirname, name), path.join(dir, name));
  buildTools(image);
  gateway = await startGateway({
    engine,
    plan: {
      sessionId,
      sessionDir: dir,
      image,
      policy: policy(NAMES),
      program: { kind: 'exec', argv: ['true'] },
    } as unknown as Plan,
    credential: undefined,
    tell: () => undefined,
    env: { NODE_EXTRA_CA_CERTS: path.join(dir, 'ca.pem') },
  });
  gateway.begin();
  await gateway.ready;
  const aliases = [...NAMES, 'evil.test'].flatMap((name) => ['--network-alias', name]);
  const where = ['--network', `run-claude-${sessionId}`, ...aliases, '-v', `${dir}:/srv:ro`, '-u', '0'];
  const label = ['--label', `run-claude.session=${sessionId}`];
  docker('run', '-d', '--name', servers, ...label, ...where, image, 'sh', '/srv/registries.sh');
  agent = await startAgentInSession(gateway, {
    engine,
    sessionId,
    image: tools,
    memoryMb: 4096,
    pids: 512,
    tmpMb: 1024,
  });
  await listening(servers);
});

afterAll(async () => {
  await agent?.remove();
  execFileSync('docker', ['rm', '-f', servers], { stdio: 'ignore' });
  await gateway?.stop();
  execFileSync('docker', ['rmi', '-f', tools], { stdio: 'ignore' });
  const left = await leftOf(engine, sessionId);
  await engine.close();
  rmSync(dir, { recursive: true, force: true });
  expect(left).toEqual([]);
});

const CARGO = (host: string): string => `mkdir -p c/src c/.cargo; cd c; touch src/lib.rs
printf '[package]\\nname = "c"\\nversion = "0.1.0"\\n[dependencies]\\ntiny = "1"\\n' > Cargo.toml
printf '[source.crates-io]\\nreplace-with = "mine"\\n[source.mine]\\nregistry = "sparse+https://${host}/index/"\\n' > .cargo/config.toml
RUSTC_BOOTSTRAP=1 cargo -Z sparse-registry fetch; cat ~/.cargo/registry/src/*/tiny-1.0.0/src/lib.rs`;
const GO = (host: string): string =>
  `export GOPROXY=https://${host} GONOSUMDB='*' GOFLAGS=-modcacherw; go mod download example.test/tiny@v1.0.0; cat ~/go/pkg/mod/example.test/tiny@v1.0.0/tiny.go`;
const APT = (host: string): string => `mkdir -p a/lists/partial a/cache/archives/partial a/d; touch a/status
echo 'deb [trusted=yes] http://${host}/ ./' > a/sources.list
O="-o Dir::State=/tmp/a -o Dir::State::status=/tmp/a/status -o Dir::Cache=/tmp/a/cache -o Dir::Etc::sourcelist=/tmp/a/sources.list -o Dir::Etc::sourceparts=/tmp/a/d -o APT::Sandbox::User= -o Acquire::Retries=0"
apt-get $O update; cd a; apt-get $O download tiny && dpkg-deb --fsys-tarfile tiny_*.deb | tar -xO ./usr/share/tiny/word`;
const MAVEN = (host: string): string => `mkdir -p m; cd m
echo '<project><modelVersion>4.0.0</modelVersion><parent><groupId>test</groupId><artifactId>parent</artifactId><version>1.0</version><relativePath/></parent><artifactId>child</artifactId><packaging>pom</packaging><repositories><repository><id>r</id><url>https://${host}/m2</url></repository></repositories></project>' > pom.xml
mvn -B -Dmaven.repo.local=/tmp/m2-${host} validate; cat /tmp/m2-${host}/test/parent/1.0/parent-1.0.pom`;
const GRADLE = (host: string): string => `mkdir -p g; cd g; echo > settings.gradle
echo 'repositories { maven { url "https://${host}/m2" } }; configurations { x }; dependencies { x "test:lib:1.0" }; task show { doLast { configurations.x.each { println it.text } } }' > build.gradle
gradle -g /tmp/gradle-${host} --no-daemon -q show`;

it('cargo, go, apt, maven and gradle download packages with the session’s environment', async () => {
  expect(await inside(CARGO('crates.test'))).toContain('from the crates');
  expect(await inside(GO('go.test'))).toContain('from the module proxy');
  expect(await inside(APT('deb.test'))).toContain('from the archive');
  expect(await inside(MAVEN('maven.test'))).toContain('from the parent');
  expect(await inside(GRADLE('maven.test'))).toContain('from the library');
});

it('each of them is refused a host that is not allowed, and prints the reason', async () => {
  const clean = 'rm -rf /tmp/* ~/.cargo ~/go';
  for (const script of [CARGO, GO, APT, MAVEN, GRADLE]) {
    const output = await inside(`${clean}; mkdir -p $HOME\n${script('evil.test')}`);
    expect(output).not.toMatch(/from the (crates|module|archive|parent|library)/);
    expect(output).toMatch(/403|not an allowed host/);
  }
  expect(gateway.hosts().find(({ host }) => host === 'evil.test')).toMatchObject({ passed: 0 });
});
