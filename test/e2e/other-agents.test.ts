import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Scene } from '../support/scene.ts';
import { startGeminiApi } from '../support/stand-in/gemini-api.mjs';
import { startMessagesApi } from '../support/stand-in/messages-api.mjs';
import { startOAuthEndpoint } from '../support/stand-in/oauth-endpoint.ts';
import { startResponsesApi } from '../support/stand-in/responses-api.mjs';

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
      expect(result.stderr).toMatch(/2 requests to the model, 1,010 tokens in, 120 out/);
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
      expect(result.stderr).toContain('3 requests to the model, 1,020 tokens in, 190 out');
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
