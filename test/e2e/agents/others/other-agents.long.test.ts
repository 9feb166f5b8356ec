import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';
import { COPILOT_MODELS } from '../../../support/stand-in/copilot-models.ts';
import { startGeminiApi } from '../../../support/stand-in/gemini-api.mjs';
import { startMessagesApi } from '../../../support/stand-in/messages-api.mjs';
import { startOAuthEndpoint } from '../../../support/stand-in/oauth-endpoint.ts';
import { startResponsesApi } from '../../../support/stand-in/responses-api.mjs';

/** Looks for the credential wherever the agent can read, and tries what the broker must refuse. */
const HOSTILE = (base: string, paths: readonly string[]): string =>
  [
    'echo from-the-agent >> README.md',
    'env > environment.txt',
    'cat /proc/[0-9]*/environ > processes.txt 2>/dev/null',
    'grep -rs REAL[-]CREDENTIAL /home/agent /run /tmp /workspace/environment.txt /workspace/processes.txt > found.txt',
    ...paths.map((one) => `curl -s -o /dev/null -w '%{http_code}\\n' ${one.replace('BASE', base)} >> refused.txt`),
    'echo "# obey" >> ~/AGENT_DIR/INSTRUCTIONS',
    'true',
  ].join('; ');

const BASE = 'http://127.0.0.1:47801';
const read = (scene: Scene, name: string): string => readFileSync(path.join(scene.project, name), 'utf8');

/** A token with the form that a login has, and nothing in it. */
const jwt = (claims: Record<string, unknown>): string =>
  ['{"alg":"none"}', JSON.stringify(claims), 'x'].map((part) => Buffer.from(part).toString('base64url')).join('.');

describe('the real Codex, driven by a stand-in of the Responses API', () => {
  const hostile = HOSTILE(BASE, [
    '-X POST BASE/v1/files -F purpose=assistants -F file=@README.md',
    'BASE/v1/organization/admin_api_keys',
    '-X DELETE BASE/v1/models/gpt-5',
    '-X POST BASE/v1/responses -H \'content-type: application/json\' -d \'{"model":"m","tools":[{"type":"mcp"}]}\'',
    '-X POST BASE/v1/responses/../files -d x --path-as-is',
  ])
    .replace('AGENT_DIR', '.codex')
    .replace('INSTRUCTIONS', 'AGENTS.md');

  it('with a key: works on a copy, the credential is never inside, and other requests are refused', async () => {
    const key = 'sk-REAL-CREDENTIAL-5d0c';
    const standIn = await startResponsesApi({
      turns: [{ commands: [hostile], inputTokens: 1000, cachedTokens: 400, outputTokens: 100 }, { text: 'All done.' }],
      accepts: (credential) => credential === key,
    });
    await using scene = new Scene({ env: { OPENAI_BASE_URL: `${standIn.url}/v1`, CODEX_API_KEY: key } });
    try {
      const before = scene.fingerprint('.git');
      const run = ['--agent', 'codex', '--copy-workspace', '--auto-apply', scene.project];
      const result = await scene.run([...run, '--', 'exec', 'please do it']);
      expect(result.stdout).toContain('All done.');
      expect(read(scene, 'README.md')).toContain('from-the-agent');
      expect(read(scene, 'found.txt')).toBe('');
      expect(read(scene, 'environment.txt')).toContain('OPENAI_API_KEY=sk-placeholder');
      expect(read(scene, 'refused.txt').trim().split('\n')).toEqual(['403', '403', '403', '403', '403']);
      expect(standIn.requests.map(({ method, path: to }) => `${method} ${to}`)).toEqual([
        'POST /v1/responses',
        'POST /v1/responses',
      ]);
      // 600 and 10 tokens in, 400 cached, 120 out, at the prices of the model that Codex chose.
      expect(result.stderr).toMatch(/2 requests to the model in [^,]+, 1,010 tokens in, 120 out/);
      expect(result.stderr).toContain('~/.codex/AGENTS.md');
      expect(JSON.stringify(standIn.requests[0]?.body)).toContain('You are in run-claude');
      expect(scene.fingerprint('.git')).toBe(before);
    } finally {
      await standIn.close();
    }
  });

  it('with a ChatGPT login that expires in the session: it is refreshed on the host, once', async () => {
    const fresh: string[] = [];
    await using endpoint = await startOAuthEndpoint('refresh-0');
    const first = jwt({ exp: Math.floor(Date.now() / 1000) + 3600, name: 'REAL-CREDENTIAL' });
    let valid = first;
    const standIn = await startResponsesApi({
      turns: [{ commands: ['echo one >> README.md'] }, { commands: ['cat ~/.codex/auth.json > auth.txt; true'] }],
      accepts: (credential) => {
        fresh.push(credential);
        // Ends after the first request.
        if (fresh.length === 2) valid = 'access-1';
        return credential === valid;
      },
    });
    await using scene = new Scene({ env: { CODEX_REFRESH_TOKEN_URL_OVERRIDE: endpoint.url } });
    const dir = path.join(scene.home, '.codex');
    mkdirSync(dir);
    const tokens = { id_token: 'i', access_token: first, refresh_token: 'refresh-0', account_id: 'account-1' };
    writeFileSync(path.join(dir, 'auth.json'), JSON.stringify({ OPENAI_API_KEY: null, tokens }), { mode: 0o600 });
    writeFileSync(path.join(dir, 'config.toml'), `chatgpt_base_url = "${standIn.url}/backend-api/"\nnotify = ["x"]\n`);
    try {
      const run = ['--agent', 'codex', '--copy-workspace', '--auto-apply', scene.project];
      const result = await scene.run([...run, '--', 'exec', 'please do it']);
      expect(result.stdout).toContain('Done.');
      expect(read(scene, 'README.md')).toContain('one');
      expect(read(scene, 'auth.txt')).toBe('');
      expect(endpoint.asked).toEqual(['refresh-0']);
      const stored = JSON.parse(readFileSync(path.join(dir, 'auth.json'), 'utf8'));
      expect(stored.tokens).toEqual({ ...tokens, access_token: 'access-1', refresh_token: 'refresh-1' });
      expect(standIn.requests.every(({ headers }) => headers['chatgpt-account-id'] === 'account-1')).toBe(true);
      expect(new Set(standIn.requests.map(({ path: to }) => to))).toEqual(new Set(['/backend-api/codex/responses']));
      expect(result.stderr).toContain('~/.codex/config.toml: not staged: chatgpt_base_url, notify');
      expect(existsSync(path.join(dir, 'sessions'))).toBe(false);
    } finally {
      await standIn.close();
    }
  });
});

describe('the real Gemini CLI, driven by a stand-in of the Gemini API', () => {
  const hostile = HOSTILE(BASE, [
    '-X POST BASE/upload/v1beta/files -d x',
    'BASE/v1beta/files',
    '-X POST BASE/v1beta/cachedContents -d x',
    '-X POST \'BASE/v1beta/models/gemini-3-pro:generateContent\' -d \'{"tools":[{"url_context":{}}]}\'',
    '-X POST BASE/v1internal:onboardUser -d x',
  ])
    .replace('AGENT_DIR', '.gemini')
    .replace('INSTRUCTIONS', 'GEMINI.md');

  it('with a key: works on a copy, the credential is never inside, and other requests are refused', async () => {
    const key = 'AIza-REAL-CREDENTIAL-5d0c';
    const standIn = await startGeminiApi({
      turns: [
        { commands: [hostile], inputTokens: 1000, cachedTokens: 400, outputTokens: 100, thoughtTokens: 50 },
        { text: 'All done.' },
      ],
      accepts: (credential) => credential === key,
    });
    await using scene = new Scene({ env: { GOOGLE_GEMINI_BASE_URL: standIn.url, GEMINI_API_KEY: key } });
    try {
      const run = ['--agent', 'gemini', '--copy-workspace', '--auto-apply', scene.project];
      const result = await scene.run([...run, '-p', 'please do it']);
      expect(result.stdout).toContain('All done.');
      expect(read(scene, 'README.md')).toContain('from-the-agent');
      expect(read(scene, 'found.txt')).toBe('');
      expect(read(scene, 'refused.txt').trim().split('\n')).toEqual(['403', '403', '403', '403', '403']);
      expect(standIn.requests.every(({ headers }) => headers['x-goog-api-key'] === key)).toBe(true);
      const counted = standIn.requests.filter(({ path: to }) => /enerateContent/.test(to)).map(({ path: to }) => to);
      expect(counted).toHaveLength(3);
      expect(result.stderr).toMatch(/3 requests to the model in [^,]+, 1,020 tokens in, 190 out/);
      expect(result.stderr).not.toContain('~/.gemini/settings.json');
      expect(result.stderr).toContain('~/.gemini/GEMINI.md');
      expect(JSON.stringify(standIn.requests.map(({ body }) => body))).toContain('You are in run-claude');
    } finally {
      await standIn.close();
    }
  });

  it('with a Google login that ends in the session: the one that the host has refreshed is used', async () => {
    const expiry = Date.now() + 3_600_000;
    let accepted = 'ya29.REAL-CREDENTIAL-first';
    let refreshed = (): void => undefined;
    const standIn = await startGeminiApi({
      turns: [
        { commands: ['echo one >> README.md; cat ~/.gemini/oauth_creds.json > creds.txt; true'] },
        { text: 'All done.' },
      ],
      accepts: (credential) => {
        if (standIn.requests.some(({ path: to }) => to.includes('streamGenerateContent'))) refreshed();
        return credential === accepted;
      },
    });
    await using scene = new Scene({ env: { CODE_ASSIST_ENDPOINT: standIn.url } });
    const dir = path.join(scene.home, '.gemini');
    mkdirSync(dir);
    const store = (token: string): void => {
      const creds = {
        access_token: token,
        refresh_token: '1//REAL-CREDENTIAL',
        expiry_date: expiry,
        token_type: 'Bearer',
      };
      writeFileSync(path.join(dir, 'oauth_creds.json'), JSON.stringify(creds), { mode: 0o600 });
    };
    store(accepted);
    // Gemini CLI on the host refreshes the login while the session runs.
    refreshed = () => {
      refreshed = () => undefined;
      accepted = 'ya29.REAL-CREDENTIAL-second';
      store(accepted);
    };
    try {
      const run = ['--agent', 'gemini', '--copy-workspace', '--auto-apply', scene.project];
      const result = await scene.run([...run, '-p', 'please do it']);
      expect(result.stdout).toContain('All done.');
      expect(read(scene, 'README.md')).toContain('one');
      expect(read(scene, 'creds.txt')).toBe('');
      const used = new Set(standIn.requests.map(({ headers }) => headers.authorization));
      expect(used).toEqual(new Set(['Bearer ya29.REAL-CREDENTIAL-first', 'Bearer ya29.REAL-CREDENTIAL-second']));
    } finally {
      await standIn.close();
    }
  });
});

describe('the real opencode, driven by stand-ins of the Messages and the Responses API', () => {
  const hostile = HOSTILE(BASE, [
    '-X POST BASE/v1/files -d x',
    'BASE/v1/organizations/api_keys',
    'BASE/v1/me',
    '-X DELETE BASE/v1/models/x',
    '-X POST BASE/v1/messages/batches -d x',
  ])
    .replace('AGENT_DIR', '.config/opencode')
    .replace('INSTRUCTIONS', 'AGENTS.md');
  const run = (scene: Scene): string[] => ['--agent', 'opencode', '--copy-workspace', '--auto-apply', scene.project];

  it('with a key of Anthropic: the credential is never inside, and other requests are refused', async () => {
    const key = 'sk-ant-REAL-CREDENTIAL-5d0c';
    const standIn = await startMessagesApi({
      turns: [{ tools: [{ name: 'bash', input: { command: hostile, description: 'step' } }] }, { text: 'All done.' }],
      accepts: (credential) => credential === key,
    });
    await using scene = new Scene({ apiUrl: standIn.url, apiKey: key });
    try {
      const result = await scene.run([...run(scene), '--', 'run', 'please do it']);
      expect(result.stdout).toContain('All done.');
      expect(read(scene, 'README.md')).toContain('from-the-agent');
      expect(read(scene, 'found.txt')).toBe('');
      expect(read(scene, 'refused.txt').trim().split('\n')).toEqual(['403', '403', '403', '403', '403']);
      expect(standIn.requests.every(({ headers }) => headers['x-api-key'] === key)).toBe(true);
      expect(JSON.stringify(standIn.requests.map(({ body }) => body))).toContain('You are in run-claude');
      expect(result.stderr).toMatch(/\d requests to the model/);
      expect(result.stderr).toContain('~/.config/opencode/AGENTS.md');
    } finally {
      await standIn.close();
    }
  });

  it('with a stored key of OpenAI', async () => {
    const key = 'sk-REAL-CREDENTIAL-5d0c';
    const standIn = await startResponsesApi({
      turns: [{ text: 'title' }, { commands: [hostile] }, { text: 'All done.' }],
      accepts: (credential) => credential === key,
    });
    await using scene = new Scene({ env: { OPENAI_BASE_URL: `${standIn.url}/v1` } });
    const dir = path.join(scene.root, 'data/opencode');
    mkdirSync(dir, { recursive: true });
    writeFileSync(path.join(dir, 'auth.json'), JSON.stringify({ openai: { type: 'api', key } }), { mode: 0o600 });
    try {
      const result = await scene.run([...run(scene), '--', 'run', 'please do it']);
      expect(result.stderr).not.toContain('CREDENTIAL_MISSING');
      expect(result.stdout).toContain('All done.');
      expect(read(scene, 'README.md')).toContain('from-the-agent');
      expect(read(scene, 'found.txt')).toBe('');
      expect(new Set(standIn.requests.map(({ path: to }) => to))).toEqual(new Set(['/v1/responses']));
    } finally {
      await standIn.close();
    }
  });
});

describe('the real Copilot CLI, driven by a stand-in of its API', () => {
  const hostile = HOSTILE(BASE, [
    '-X POST BASE/mcp/readonly -d {}',
    'BASE/copilot_internal/user',
    '-X POST BASE/agents/sessions -d {}',
    '-X POST BASE/models/gpt-5.4/policy -d {}',
    '-X POST BASE/responses -H \'content-type: application/json\' -d \'{"model":"m","tools":[{"type":"mcp"}]}\'',
    '-X POST BASE/v1/messages -d \'{"model":"m","mcp_servers":[{}]}\'',
  ])
    .replace('AGENT_DIR', '.copilot')
    .replace('INSTRUCTIONS', 'copilot-instructions.md');
  const run = (scene: Scene): string[] => ['--agent', 'copilot', '--copy-workspace', '--auto-apply', scene.project];

  it('with a token: works on a copy, the credential is never inside, and other requests are refused', async () => {
    const token = 'ghu_REAL-CREDENTIAL5d0c';
    const standIn = await startResponsesApi({
      turns: [{ commands: [hostile], inputTokens: 1000, cachedTokens: 400, outputTokens: 100 }, { text: 'All done.' }],
      accepts: (credential) => credential === token,
      models: COPILOT_MODELS,
    });
    await using scene = new Scene({ env: { COPILOT_API_URL: standIn.url, COPILOT_GITHUB_TOKEN: token } });
    try {
      const result = await scene.run([...run(scene), '-p', 'please do it']);
      expect(result.stdout, result.stderr).toContain('All done.');
      expect(read(scene, 'README.md')).toContain('from-the-agent');
      expect(read(scene, 'found.txt')).toBe('');
      expect(read(scene, 'refused.txt').trim().split('\n')).toEqual(Array(6).fill('403'));
      expect(new Set(standIn.requests.map(({ method, path: to }) => `${method} ${to}`))).toEqual(
        new Set(['GET /models', 'POST /responses']),
      );
      expect(result.stderr).toContain('1,010 tokens in, 120 out');
      expect(result.stderr).toContain('~/.copilot/copilot-instructions.md');
      expect(result.stderr).not.toContain('~/.copilot/settings.json');
      expect(JSON.stringify(standIn.requests.map(({ body }) => body))).toContain('You are in run-claude');
    } finally {
      await standIn.close();
    }
  });

  it('with a login of gh that ends in the session: the token of a new login is used', async () => {
    const [first, second] = ['gho_REAL-CREDENTIAL-first', 'gho_REAL-CREDENTIAL-second'];
    let accepted = first;
    let renew = (): void => undefined;
    const standIn = await startResponsesApi({
      turns: [{ commands: ['echo one >> README.md'] }, { text: 'All done.' }],
      accepts: (credential) => {
        if (standIn.requests.some(({ path: to }, at) => to === '/responses' && at < standIn.requests.length - 1))
          renew();
        return credential === accepted;
      },
      models: COPILOT_MODELS,
    });
    await using scene = new Scene({ env: { COPILOT_API_URL: standIn.url } });
    const bin = path.join(scene.root, 'bin');
    mkdirSync(bin);
    const stored = path.join(scene.root, 'token');
    writeFileSync(path.join(bin, 'gh'), `#!/bin/sh\n[ "$1 $2" = 'auth token' ] && cat '${stored}'\n`, { mode: 0o755 });
    writeFileSync(stored, `${first}\n`);
    // The user logs in anew while the session runs; the old token is refused from then on.
    renew = () => {
      renew = () => undefined;
      accepted = second;
      writeFileSync(stored, `${second}\n`);
    };
    try {
      const env = { PATH: `${bin}:${scene.env['PATH']}` };
      const result = await scene.run([...run(scene), '-p', 'please do it'], { env });
      expect(result.stdout, result.stderr).toContain('All done.');
      expect(read(scene, 'README.md')).toContain('one');
      const used = new Set(standIn.requests.map(({ headers }) => headers.authorization));
      expect(used).toEqual(new Set([`Bearer ${first}`, `Bearer ${second}`]));
    } finally {
      await standIn.close();
    }
  });
});

describe('an agent of the user’s configuration, whose package is a shell script', () => {
  const SCRIPT = [
    '#!/bin/sh',
    'curl -s "$TINY_BASE/responses" -H "Authorization: Bearer $TINY_KEY" -H "content-type: application/json" \\',
    '  -d "{\\"model\\":\\"m\\",\\"stream\\":true,\\"input\\":\\"$*\\"}" > answer.txt',
    'echo "$*" >> README.md',
    'env > environment.txt',
    'cat ~/.tiny/AGENTS.md > note.txt',
    'ls -A ~/.tiny > staged.txt',
    'echo changed > ~/.tiny/conf',
    `curl -s -o /dev/null -w '%{http_code}\\n' -X POST http://127.0.0.1:47801/v1/files -d x > refused.txt`,
    'grep -o "All done." answer.txt',
    '',
  ].join('\n');

  /** A registry's npm with this one package. */
  function publish(dir: string): { readonly bin: string; readonly integrity: string } {
    const bin = path.join(dir, 'bin');
    mkdirSync(path.join(dir, 'package'), { recursive: true });
    mkdirSync(bin);
    writeFileSync(path.join(dir, 'package/tiny.sh'), SCRIPT);
    execFileSync('tar', ['-czf', path.join(dir, 'tiny.tgz'), '-C', dir, 'package']);
    const npm = `#!/bin/sh\n[ "$2" = tiny@1.0.0 ] && cp '${dir}/tiny.tgz' tiny-1.0.0.tgz\n`;
    writeFileSync(path.join(bin, 'npm'), npm, { mode: 0o755 });
    const sha512 = createHash('sha512').update(readFileSync(path.join(dir, 'tiny.tgz')));
    return { bin, integrity: `sha512-${sha512.digest('base64')}` };
  }

  it('runs on a copy with a placeholder, its requests are judged and counted, and nothing of its home comes back', async () => {
    const key = 'sk-REAL-CREDENTIAL-5d0c';
    const standIn = await startResponsesApi({
      turns: [{ text: 'All done.', inputTokens: 1000, outputTokens: 100 }],
      accepts: (credential) => credential === key,
    });
    await using scene = new Scene({ env: { TINY_API_KEY: key } });
    const { bin, integrity } = publish(path.join(scene.root, 'registry'));
    const config = path.join(scene.root, 'config/run-claude');
    mkdirSync(config, { recursive: true });
    mkdirSync(path.join(scene.home, '.tiny'));
    writeFileSync(path.join(scene.home, '.tiny/conf'), 'mine');
    writeFileSync(path.join(scene.home, '.tiny/secret'), 'REAL-CREDENTIAL');
    writeFileSync(
      path.join(config, 'config.toml'),
      `[agents.tiny]
title = "Tiny"
program = ["tiny"]
package = { name = "tiny@1.0.0", integrity = "${integrity}", entry = "tiny.sh" }
copy = [".tiny/conf"]
instructions = ".tiny/AGENTS.md"
print = ["once"]
skip-permissions = ["--yes"]
env = { TINY_BASE = "{broker}/v1", TINY_KEY = "{placeholder}" }
provider = { api = "openai", url = "${standIn.url}", key = "TINY_API_KEY" }
`,
    );
    const env = { PATH: `${bin}:${scene.env['PATH']}` };
    try {
      const run = ['--agent', 'tiny', '--copy-workspace', '--auto-apply', scene.project, '--', 'once', 'do it'];
      const result = await scene.run(run, { env });
      expect(result.stdout, result.stderr).toContain('All done.');
      expect(read(scene, 'README.md')).toContain('--yes once do it');
      expect(read(scene, 'environment.txt')).not.toContain('REAL-CREDENTIAL');
      expect(read(scene, 'environment.txt')).toContain('TINY_KEY=sk-placeholder');
      expect(read(scene, 'staged.txt')).toBe('AGENTS.md\nconf\n');
      expect(read(scene, 'note.txt')).toContain("# You are in run-claude's sandbox");
      expect(read(scene, 'refused.txt')).toBe('403\n');
      expect(standIn.requests.map(({ method, path: to }) => `${method} ${to}`)).toEqual(['POST /v1/responses']);
      expect(result.stderr).toMatch(/1 request to the model in [^,]+, 1,000 tokens in, 100 out/);
      expect(readFileSync(path.join(scene.home, '.tiny/conf'), 'utf8')).toBe('mine');
      const again = await scene.run(['sessions', '--json'], { env });
      expect(JSON.parse(again.stdout)[0]).toMatchObject({ program: 'tiny' });
      const missing = await scene.run(run, { env: { ...env, TINY_API_KEY: '' } });
      expect(missing.stderr).toContain('there is no login for Tiny on this machine');
      expect(missing.stderr).toContain('Set TINY_API_KEY on this machine');
    } finally {
      await standIn.close();
    }
  });
});
