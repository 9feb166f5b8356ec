import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Plan } from '../../../../src/core/types/plan.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import { withProof } from '../../../../src/engines/engine/hardening/proof.ts';
import { readSeccompProfile } from '../../../../src/engines/engine/hardening/seccomp.ts';
import { companionContainer } from '../../../../src/network/companion/companion.ts';
import { servedPrograms } from '../../../../src/network/gateway/rules/program-host.ts';
import { startGateway } from '../../../../src/network/gateway/start-gateway.ts';
import { openCleanupStack } from '../../../../src/session/stage/cleanup-stack.ts';
import { startMcpCompanions } from '../../../../src/session/stage/servers/mcp-companions.ts';
import { readyProgram } from '../../../../src/session/stage/servers/usable-servers.ts';
import { leftOf, listening, startAgentInSession } from '../../../support/agent-beside.ts';
import { connectForTest } from '../../../support/engine.ts';
import { fixedCredential } from '../../../support/gateway-process.ts';
import { testImage } from '../../../support/image.ts';
import { bundleServer } from '../../../support/mcp-program/bundle.ts';

const docker = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8' });

const SERVER = `require('http').createServer((q, a) => a.end('answer of ' + q.headers.host)).listen(80, () => console.log('listening'))`;

it('reaches the hosts of its table through rules of its own, and gives its secret to neither the engine nor the agent', async () => {
  const sessionId = `t${randomBytes(5).toString('hex')}`;
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-companion-'));
  const secret = `REAL-${randomBytes(12).toString('hex')}`;
  const engine = await connectForTest();
  const image = await testImage(engine);
  const directory = await bundleServer(path.join(dir, 'server'));
  const policy = {
    network: 'gateway',
    credentials: 'broker',
    allowHosts: ['agent.test'],
    allowAddresses: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
    networkPresets: [],
    brokers: [],
    mcpPrograms: [
      {
        name: 'Box',
        command: ['node', 'server.mjs'],
        directory,
        env: {},
        secrets: { API_TOKEN: ['echo', secret] },
        hosts: ['api.test'],
      },
    ],
  } as unknown as Policy;
  const plan = {
    sessionId,
    sessionDir: dir,
    image,
    policy,
    project: { root: path.join(dir, 'project') },
    program: { kind: 'claude', args: [], print: true },
  } as unknown as Plan;
  const cleanup = openCleanupStack(() => undefined);
  const servers = `run-claude-${sessionId}-servers`;
  let agent: Awaited<ReturnType<typeof startAgentInSession>> | undefined;
  try {
    const started = { engine, tell: () => undefined };
    const programs = await Promise.all(
      servedPrograms(policy).map((program) => readyProgram(program, { roots: [plan.project.root], isLocal: true })),
    );
    const seccomp = await readSeccompProfile();
    const companionTokens = await startMcpCompanions(plan, started, seccomp, programs, cleanup.group());
    const gateway = cleanup.use(
      await startGateway({ ...started, plan, credential: fixedCredential('real'), env: {}, companionTokens }),
      (one) => one.stop(),
    );
    gateway.begin();
    await gateway.ready;
    const on = ['--network', `run-claude-${sessionId}`, '--network-alias', 'api.test', '--network-alias', 'agent.test'];
    const label = ['--label', `run-claude.session=${sessionId}`, '-u', '0'];
    docker('run', '-d', '--name', servers, ...label, ...on, image, 'node', '-e', SERVER);
    agent = await startAgentInSession(gateway, { engine, sessionId, image });
    await listening(servers);
    const inside = agent;
    const env = { ...gateway.env, PATH: '/usr/local/bin:/usr/bin:/bin' };
    const sh = async (script: string): Promise<string> => {
      const { stdout, stderr } = await inside.exec(['/bin/sh', '-c', script], { env });
      return `${String(stdout)}${String(stderr)}`;
    };
    const curl = 'curl -sS -m 40 -D /tmp/head https://box.mcp.internal/mcp -H "content-type: application/json"';
    const first =
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}';
    expect(await sh(`${curl} -d '${first}'`)).toContain('"serverInfo":{"name":"stand-in"');
    const session = (await sh('grep -i mcp-session-id /tmp/head')).trim().replaceAll("'", '');
    const ask = (name: string, input: object): Promise<string> => {
      const message = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name, arguments: input } };
      return sh(`${curl} -H '${session}' -d '${JSON.stringify(message)}'`);
    };
    expect(await ask('fetch', { url: 'http://api.test/' })).toContain('answer of api.test status 200');
    expect(await ask('fetch', { url: 'http://agent.test/' })).toContain('status 403');
    expect(await ask('facts', {})).toContain(`\\"secret\\":${secret.length}`);
    // The agent's own rules do not include the companion's.
    expect(await sh('curl -sS -m 20 http://api.test/')).toContain('run-claude: api.test is not');
    expect(await sh('curl -sS -m 20 http://agent.test/')).toBe('answer of agent.test');
    const names = docker('ps', '-a', '--filter', `label=run-claude.session=${sessionId}`, '--format', '{{.Names}}');
    expect(names).toContain(`run-claude-${sessionId}-companion-box`);
    const record = docker('inspect', `run-claude-${sessionId}-companion-box`);
    expect(record).not.toContain(secret);
    expect(JSON.parse(record)[0].HostConfig).toMatchObject({
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      PidsLimit: 256,
    });
    const log = readFileSync(gateway.log, 'utf8');
    expect(log).toMatch(/"host":"api.test".*"companion":"Box"/);
    expect(log).not.toContain(secret);
  } finally {
    await agent?.remove();
    execFileSync('docker', ['rm', '-f', servers], { stdio: 'ignore' });
    await cleanup.close();
    expect(await leftOf(engine, sessionId)).toEqual([]);
    await engine.close();
    rmSync(dir, { recursive: true, force: true });
  }
});

it('is proved by its init before its program starts, as every other container', () => {
  const session = { sessionId: 's', image: 'i', seccomp: '{}' };
  const limits = { memoryMb: 64, cpus: 0, pids: 16, tmpMb: 16 };
  const program = {
    name: 'x',
    argv: ['/bin/x'],
    env: {},
    input: { env: { A: 'REAL' } },
    mounts: [],
    forwards: [],
    limits,
  };
  const spec = companionContainer(session, program);
  expect(JSON.stringify(spec)).not.toContain('REAL');
  expect(spec).toMatchObject({ role: 'companion', network: 'none', capabilities: [], stdin: 'stream' });
  const [init, prove, proof = ''] = withProof(spec).argv;
  expect([init, prove]).toEqual(['/usr/lib/run-claude/init', '--prove']);
  expect(proof).toContain('no-network');
  expect(proof).toContain('group-limit pids 16');
});
