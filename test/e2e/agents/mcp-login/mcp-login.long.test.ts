import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpConnect } from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { expect, it } from 'vitest';
import { insideJson } from '../../../../src/agents/claude/stage/claude-json.ts';
import { mcpLogins } from '../../../../src/agents/mcp-login/login-source.ts';
import type { Plan } from '../../../../src/core/types/plan.ts';
import type { Policy } from '../../../../src/core/types/policy.ts';
import { startGateway } from '../../../../src/network/gateway/start-gateway.ts';
import { startAgentInSession } from '../../../support/agent-beside.ts';
import { connectForTest } from '../../../support/engine.ts';
import { fixedCredential } from '../../../support/gateway-process.ts';
import { testImage } from '../../../support/image.ts';
import { mainJs, Scene } from '../../../support/scene.ts';
import { startMcpOAuth } from '../../../support/stand-in/mcp-oauth.ts';
import { startMessagesApi } from '../../../support/stand-in/messages-api.mjs';

// The built command, the real Claude Code, a stand-in of its provider, and stand-ins of an MCP server, which is reached
// through a proxy of this machine, and of its authorization server. The MCP server takes one token at a time.

const call = (name: string) => ({ tools: [{ name: `mcp__box__${name}`, input: {} }] });
const HOSTILE = [
  'grep -rasl REAL[-] /proc/[0-9]*/environ /proc/[0-9]*/cmdline /tmp/.claude.json /run /etc',
  'curl -sS -m 20 -o /dev/null -w "other %{http_code}\\n" https://mcp.test/.well-known/oauth-protected-resource/mcp',
  'curl -sS -m 20 -o /dev/null -H "Authorization: Bearer mine" -w "own %{http_code}\\n" -d "{}" https://mcp.test/mcp',
  'echo over',
].join('; ');
const LOOPBACK = ['127.0.0.1/32', '::1/128'];

it('a login in the browser is kept here, refreshed in mid-session, and never seen inside', async () => {
  const api = await startMessagesApi({ turns: [call('search'), call('search'), { text: 'It is over.' }] });
  await using scene = new Scene({ apiUrl: api.url, apiKey: 'sk-ant-test' });
  const certificates = path.join(scene.root, 'certificates');
  mkdirSync(certificates);
  await using standIn = await startMcpOAuth({ dir: certificates, isNamed: true });
  const before = https.globalAgent.options.ca;
  https.globalAgent.options.ca = standIn.ca;
  const engine = await connectForTest();
  const sessionId = `t${randomBytes(5).toString('hex')}`;
  const image = await testImage(engine);
  const dir = path.join(scene.root, 'session');
  mkdirSync(dir);
  const env = { HTTPS_PROXY: standIn.proxy, NO_PROXY: '127.0.0.1,localhost', NODE_EXTRA_CA_CERTS: standIn.caFile };
  let gateway: Awaited<ReturnType<typeof startGateway>> | undefined;
  let agent: Awaited<ReturnType<typeof startAgentInSession>> | undefined;
  try {
    const added = await scene.run(['mcp', 'add', 'box', '--url', 'https://mcp.test/mcp', '--oauth']);
    expect(added.stderr).toContain('log in: run-claude mcp login box');
    const config = path.join(scene.root, 'config/run-claude/config.toml');
    writeFileSync(config, `allow-address = ${JSON.stringify(LOOPBACK)}\n${readFileSync(config, 'utf8')}`);
    expect((await scene.run(['mcp', 'list'])).stdout).toContain('not logged in');
    const early = await scene.run(['exec', scene.project, '--', 'true']);
    const leftOut = expect.stringContaining(
      'WARNING: MCP server box is left out: there is no login to the MCP server box',
    );
    expect([early.status, early.stderr]).toEqual([0, leftOut]);
    expect((await scene.run(['doctor'])).stdout).toMatch(/warning {2}MCP servers +box: there is no login/);

    const login = await logIn(scene, env, standIn.ca);
    expect(login).toContain('logged in to box');
    expect((await scene.run(['mcp', 'list'])).stdout).toContain('logged in at localhost');
    const { dataDir } = scene.places();
    const file = path.join(dataDir, 'mcp-logins/box.json');
    expect(readFileSync(file, 'utf8')).toContain(standIn.token);

    const server = { name: 'box', url: 'https://mcp.test/mcp', oauth: true };
    const policy = {
      network: 'gateway',
      credentials: 'broker',
      allowHosts: [],
      allowAddresses: [],
      networkPresets: [],
      brokers: [],
      mcpServers: [server],
    } as unknown as Policy;
    const program = { kind: 'claude', args: [], print: true };
    gateway = await startGateway({
      engine,
      plan: { sessionId, sessionDir: dir, image, policy, program } as unknown as Plan,
      credential: fixedCredential('real'),
      tell: () => undefined,
      env: { ...env, ANTHROPIC_BASE_URL: api.url },
      mcpLogins: mcpLogins([server], dataDir, { env: {}, allowAddresses: LOOPBACK }),
    });
    gateway.begin();
    await gateway.ready;
    agent = await startAgentInSession(gateway, { engine, sessionId, image });
    // Each token is good for one call.
    let spent = 0;
    const watch = setInterval(() => {
      if (standIn.called.length === spent) return;
      spent = standIn.called.length;
      standIn.expire();
    }, 5);
    const facts = { projectRoot: '/p', workdir: '/tmp', placeholder: undefined, skipPermissions: true };
    const { json } = insideJson(undefined, { ...facts, servers: [server] });
    const claude = 'claude -p work --output-format stream-json --verbose --dangerously-skip-permissions';
    const script = `cd /tmp; printf %s "$JSON" > .claude.json; ${claude}; ${HOSTILE}`;
    const inside = { ...gateway.env, PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', JSON: JSON.stringify(json) };
    const said = await agent.exec(['/bin/sh', '-c', script], { env: inside });
    clearInterval(watch);
    const [stdout, stderr] = [String(said.stdout), String(said.stderr)];
    expect(stdout, stderr).toContain('It is over.');
    expect(standIn.called).toEqual(['search', 'search']);
    expect(standIn.grants.slice(0, 2)).toEqual(['code', 'refresh']);
    expect(stdout).toMatch(/result of search[\s\S]*result of search/);
    expect(stdout).toMatch(/\}\nother 403\nown \d+\nover\n$/);
    expect(stdout + stderr + JSON.stringify(api.requests)).not.toContain('REAL-');
    const log = readFileSync(gateway.log, 'utf8');
    expect(log).toMatch(/"kind":"broker".*"host":"mcp.test".*"tool":"search"/);
    expect(log).not.toContain('REAL-');
    expect(readFileSync(file, 'utf8')).toContain(standIn.refreshToken);

    await scene.run(['mcp', 'logout', 'box']);
    expect(existsSync(file)).toBe(false);
  } finally {
    if (before === undefined) delete https.globalAgent.options.ca;
    else https.globalAgent.options.ca = before;
    await agent?.remove();
    await gateway?.stop();
    await engine.close();
    await api.close();
  }
});

/** `mcp login`, and the user's browser at the address that it prints. Returns what it printed. */
function logIn(scene: Scene, env: Readonly<Record<string, string>>, ca: string): Promise<string> {
  return new Promise((done) => {
    const words = [mainJs, 'mcp', 'login', 'box'];
    const child = execFile(process.execPath, words, { env: { ...scene.env, ...env } }, (error, stdout, stderr) =>
      done(`${error?.message ?? ''}${stdout}${stderr}`),
    );
    let text = '';
    child.stdout?.on('data', (part: string) => {
      text += part;
      const address = /^https:\S+(?=\n)/m.exec(text)?.[0];
      if (address === undefined) return;
      text = '';
      https.get(address, { ca }, (answer) => httpConnect(String(answer.headers.location)).end());
    });
  });
}
