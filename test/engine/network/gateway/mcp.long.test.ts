import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { insideJson } from '../../../../src/agents/claude/stage/claude-json.ts';
import type { Plan } from '../../../../src/core/types/plan.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import { startGateway } from '../../../../src/network/gateway/start-gateway.ts';
import { listening, makeCertificates, startAgentInSession } from '../../../support/agent-beside.ts';
import { connectForTest } from '../../../support/engine.ts';
import { fixedCredential } from '../../../support/gateway-process.ts';
import { testImage } from '../../../support/image.ts';
import { startMessagesApi } from '../../../support/stand-in/messages-api.mjs';

// The real Claude Code, a provider's stand-in on this machine, and an MCP server in a container on the gateway's bridge.

const call = (name: string) => ({ tools: [{ name: `mcp__box__${name}`, input: { query: 'x' } }] });

it('Claude uses the tools that are named of a server whose login it never sees, and no others', async () => {
  const sessionId = `t${randomBytes(5).toString('hex')}`;
  const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-mcp-'));
  const header = `Bearer ${randomBytes(12).toString('hex')}`;
  const server = { name: 'box', url: 'https://mcp.test/v1/mcp' };
  const docker = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8' });
  const engine = await connectForTest();
  const standIn = await startMessagesApi({ turns: [call('search'), call('delete_all'), { text: 'It is over.' }] });
  const image = await testImage(engine);
  makeCertificates(dir, ['mcp.test']);
  copyFileSync(path.join(import.meta.dirname, 'mcp-server.mjs'), path.join(dir, 'server.mjs'));
  const policy = {
    network: 'gateway',
    credentials: 'broker',
    allowHosts: [],
    allowAddresses: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
    networkPresets: [],
    brokers: [],
    mcpServers: [{ ...server, header: 'Authorization', from: ['echo', header], tools: ['search'] }],
  } as unknown as Policy;
  const program = { kind: 'claude', args: [], print: true };
  const gateway = await startGateway({
    engine,
    plan: { sessionId, sessionDir: dir, image, policy, program } as unknown as Plan,
    credential: fixedCredential('real'),
    tell: () => undefined,
    env: { NODE_EXTRA_CA_CERTS: path.join(dir, 'ca.pem'), ANTHROPIC_BASE_URL: standIn.url },
  });
  const servers = `run-claude-${sessionId}-servers`;
  const labels = ['--label', `run-claude.session=${sessionId}`];
  let agent: Awaited<ReturnType<typeof startAgentInSession>> | undefined;
  gateway.begin();
  try {
    await gateway.ready;
    const on = [
      '--network',
      `run-claude-${sessionId}`,
      '--network-alias',
      'mcp.test',
      '-v',
      `${dir}:/srv:ro`,
      '-u',
      '0',
    ];
    docker('run', '-d', '--name', servers, ...labels, ...on, image, 'node', '/srv/server.mjs', header);
    agent = await startAgentInSession(gateway, { engine, sessionId, image });
    await listening(servers);
    const facts = { projectRoot: '/p', workdir: '/tmp', placeholder: undefined, skipPermissions: true };
    const { json } = insideJson(undefined, { ...facts, servers: [server] });
    const argv = [
      'claude',
      '-p',
      'work',
      '--output-format',
      'stream-json',
      '--verbose',
      '--dangerously-skip-permissions',
    ];
    const script = `cd /tmp; printf %s "$JSON" > .claude.json; ${argv.join(' ')}; grep -rasl "${header.slice(7)}" /tmp /run /proc/[0-9]*/environ; echo over`;
    const env = { ...gateway.env, PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', JSON: JSON.stringify(json) };
    const said = await agent.exec(['/bin/sh', '-c', script], { env });
    const [stdout, stderr] = [String(said.stdout), String(said.stderr)];
    expect(stdout, stderr).toContain('It is over.');
    expect(stdout).toContain('result of search');
    expect(stdout).not.toContain('result of delete_all');
    expect(stdout).toContain('the tool delete_all is not allowed');
    expect(stdout).toMatch(/\}\nover\n$/);
    const arrived = docker('logs', servers);
    expect(arrived).toMatch(/user POST \/v1\/mcp .*"name":"search"/);
    expect(arrived).not.toMatch(/"name":"delete_all"|stranger/);
    const log = readFileSync(gateway.log, 'utf8');
    expect(log).toMatch(/"kind":"broker".*"host":"mcp.test".*"tool":"search"/);
    expect(log).not.toContain(header.slice(7));
  } finally {
    await agent?.remove();
    execFileSync('docker', ['rm', '-f', servers], { stdio: 'ignore' });
    await gateway.stop();
    await engine.close();
    await standIn.close();
    rmSync(dir, { recursive: true, force: true });
  }
});
