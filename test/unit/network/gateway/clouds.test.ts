import { generateKeyPairSync, verify } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { signedHeaders } from '../../../../images/gateway/sigv4.mjs';
import { modelVariables } from '../../../../src/agents/claude/credentials/broker-variables.ts';
import { cloudCredential } from '../../../../src/agents/claude/credentials/cloud-credentials.ts';
import { type RunProgram, runProgram } from '../../../../src/core/host/processes/run-program.ts';
import type { CredentialSource, ProviderApi } from '../../../../src/core/types/agent/credential.ts';
import { GatewayProcess } from '../../../support/gateway-process.ts';
import { type CloudApi, startCloudApi } from '../../../support/stand-in/cloud-api.ts';

const BODY = JSON.stringify({
  anthropic_version: 'bedrock-2023-05-31',
  max_tokens: 9,
  tools: [{ name: 'Bash' }],
  messages: [],
});
const MODEL = '/model/eu.anthropic.claude-opus-5-20260801-v1:0';

function ask(gateway: GatewayProcess, target: string, method = 'POST'): Promise<{ status: number; body: Buffer }> {
  return new Promise((done, failed) => {
    const socketPath = path.join(gateway.dir, 'api.sock');
    const headers = {
      authorization: 'Bearer mine',
      'x-amz-security-token': 'mine',
      'x-amz-target': 'x',
      'x-goog-user-project': 'other',
    };
    const out = request({ socketPath, method, path: target, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('end', () => done({ status: answer.statusCode ?? 0, body: Buffer.concat(parts) }));
    });
    out.on('error', failed);
    out.end(method === 'POST' ? BODY : undefined);
  });
}

function start(api: CloudApi, kind: ProviderApi, credential: CredentialSource, more = {}): Promise<GatewayProcess> {
  const targets = { provider: { host: '127.0.0.1', port: api.port } };
  return GatewayProcess.start({
    targets,
    credential,
    config: { provider: { url: `${api.url}${kind.kind === 'vertex' ? '/v1' : ''}`, relay: true, api: kind }, ...more },
  });
}

it('produces the signatures of the published examples of Signature Version 4', () => {
  const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
  const sign = (method: string): string | undefined =>
    signedHeaders(
      { method, host: 'example.amazonaws.com', path: '/', body: Buffer.alloc(0) },
      keys,
      { region: 'us-east-1', service: 'service' },
      new Date('2015-08-30T12:36:00Z'),
    ).at(-1);
  expect(sign('GET')).toContain('Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31');
  expect(sign('POST')).toContain('Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b');
});

it('Bedrock: signs each request, counts usage in the frames, renews an expired key, forwards only inference', async () => {
  let keys = { id: 'AKID1', key: 'secret-key-one', token: 'session-one' };
  await using api = await startCloudApi({
    turns: [{ text: 'hello', inputTokens: 1_000_000, outputTokens: 100_000 }],
    keys: () => keys,
  });
  let refreshed = 0;
  const secret = () => ({
    kind: 'aws-keys' as const,
    value: JSON.stringify({ accessKeyId: keys.id, secretAccessKey: keys.key, sessionToken: keys.token }),
  });
  const first = secret();
  const credential: CredentialSource = {
    name: 'test',
    kind: 'aws-keys',
    current: async () => first,
    refresh: async () => {
      refreshed += 1;
      return secret();
    },
  };
  await using gateway = await start(api, { kind: 'bedrock', region: 'eu-west-1' }, credential);
  const answer = await ask(gateway, `${MODEL}/invoke-with-response-stream`);
  expect(answer.status).toBe(200);
  expect(answer.body.toString('latin1')).toContain(':event-type');
  await expect.poll(() => gateway.kept.usage().outputTokens).toBe(100_000);
  expect(gateway.kept.usage()).toMatchObject({ requests: 1, inputTokens: 1_000_000, costUsd: 7.5 });
  expect(api.seen[0]?.headers).toMatchObject({ 'x-amz-security-token': 'session-one', 'accept-encoding': 'identity' });
  expect(api.seen[0]?.headers['x-amz-target']).toBeUndefined();

  // An inference profile of the user's account, its name encoded, in one piece.
  const arn = encodeURIComponent('arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc1');
  expect((await ask(gateway, `/model/${arn}/invoke`)).status).toBe(200);
  keys = { id: 'AKID2', key: 'secret-key-two', token: 'session-two' };
  expect((await ask(gateway, `${MODEL}/invoke`)).status).toBe(200);
  expect([refreshed, api.seen.at(-1)?.good]).toEqual([1, true]);

  const before = api.seen.length;
  const refused: [string, string][] = [
    ['GET', '/inference-profiles?type=SYSTEM_DEFINED'],
    ['GET', '/foundation-models'],
    ['POST', '/model/amazon.nova-pro-v1:0/invoke'],
    ['POST', '/model/eu.anthropic.claude-opus-5/converse'],
    ['POST', '/model/eu.anthropic.claude-opus-5/async-invoke'],
    ['POST', '/guardrail/x/version/1/apply'],
    ['POST', `${MODEL}/../../agents/x/invoke`],
    ['POST', '/model/..%2f..%2fagents%2fanthropic.x/invoke'],
    ['POST', '/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ax%2F..%2F..%2Fy/invoke'],
    ['POST', `${MODEL}/invoke?x=1`],
    ['POST', '/v1/messages'],
    ['DELETE', `${MODEL}/invoke`],
  ];
  for (const [method, target] of refused)
    expect([target, (await ask(gateway, target, method)).status]).toEqual([target, 403]);
  expect(api.seen.length).toBe(before);

  // What the server repeats of the request in its refusal comes back without the credential.
  keys = { id: 'AKID3', key: 'secret-key-three', token: 'session-three' };
  const late = await ask(gateway, `${MODEL}/invoke`);
  expect(late.status).toBe(403);
  expect(late.body.toString()).toContain('[credential]');
  expect(late.body.toString()).not.toMatch(/session-two|secret-key/);
});

it('Vertex AI: sends the token only to the one project and region', async () => {
  await using api = await startCloudApi({ turns: [], bearer: () => 'google-token' });
  const secret = { kind: 'auth-token' as const, value: 'google-token' };
  const credential: CredentialSource = {
    name: 't',
    kind: 'auth-token',
    current: async () => secret,
    refresh: async () => secret,
  };
  await using gateway = await start(api, { kind: 'vertex', region: 'us-east5', project: 'mine' }, credential);
  const models = '/projects/mine/locations/us-east5/publishers/anthropic/models';
  expect((await ask(gateway, `${models}/claude-opus-5@20260801:streamRawPredict`)).status).toBe(200);
  expect((await ask(gateway, `${models}/count-tokens:rawPredict`)).status).toBe(200);
  expect(gateway.kept.usage().requests).toBe(2);
  expect(api.seen[0]).toMatchObject({ good: true, line: `POST /v1${models}/claude-opus-5@20260801:streamRawPredict` });
  expect(api.seen[0]?.headers['x-goog-user-project']).toBeUndefined();
  const before = api.seen.length;
  for (const target of [
    `${models.replace('mine', 'other')}/claude-opus-5:rawPredict`,
    `${models.replace('us-east5', 'global')}/claude-opus-5:rawPredict`,
    `${models.replace('anthropic', 'google')}/gemini:rawPredict`,
    `${models}/claude-opus-5:predict`,
    `${models}/../claude-opus-5:rawPredict`,
    `${models}/claude-opus-5:rawPredict?alt=sse`,
    '/projects/mine/serviceAccounts',
  ])
    expect([target, (await ask(gateway, target)).status]).toEqual([target, 403]);
  expect(api.seen.length).toBe(before);
});

it('finds the keys of this machine: token, variables, the AWS command, its file; Google login, service account, gcloud', async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'rc-clouds-'));
  const asked: string[][] = [];
  const says: Record<string, { status: number; stdout: string }> = {};
  const run: RunProgram = async (argv) => {
    asked.push([...argv]);
    return says[argv[0] ?? ''] ?? { status: 127, stdout: '' };
  };
  const find = (env: Record<string, string>): CredentialSource => {
    const source = cloudCredential({ env, home, run });
    if (source === undefined) throw new Error('no credential');
    return source;
  };
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const forms: URLSearchParams[] = [];
  const endpoint = createServer((incoming, response) => {
    let text = '';
    incoming.on('data', (part) => {
      text += part;
    });
    incoming.on('end', () => {
      forms.push(new URLSearchParams(text));
      response.end(JSON.stringify({ access_token: `google-${forms.length}`, expires_in: 3599 }));
    });
  });
  await new Promise<void>((done) => endpoint.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/token`;
  try {
    const aws = { CLAUDE_CODE_USE_BEDROCK: '1', AWS_REGION: 'eu-central-1' };
    const pair = { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'k' };
    expect(cloudCredential({ env: { CLAUDE_CODE_USE_BEDROCK: '0' }, home, run })).toBeUndefined();
    const token = find({ ...aws, ...pair, AWS_BEARER_TOKEN_BEDROCK: 'bedrock-api-key' });
    expect([token.name, await token.current()]).toEqual([
      'AWS_BEARER_TOKEN_BEDROCK',
      { kind: 'auth-token', value: 'bedrock-api-key' },
    ]);
    expect(token.cloud).toEqual({
      url: 'https://bedrock-runtime.eu-central-1.amazonaws.com',
      api: { kind: 'bedrock', region: 'eu-central-1' },
    });
    expect(JSON.parse((await find({ ...aws, ...pair }).current()).value)).toEqual({
      accessKeyId: 'AKIA',
      secretAccessKey: 'k',
    });
    await expect(find(aws).current()).rejects.toMatchObject({ code: 'CREDENTIAL_EXPIRED' });
    mkdirSync(path.join(home, '.aws'));
    writeFileSync(
      path.join(home, '.aws/credentials'),
      '[default]\naws_access_key_id = A0\naws_secret_access_key=K0\n[other]\naws_access_key_id=A1\naws_secret_access_key = K1\n',
    );
    expect(JSON.parse((await find({ ...aws, AWS_PROFILE: 'other' }).current()).value)).toMatchObject({
      accessKeyId: 'A1',
    });
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    says['aws'] = {
      status: 0,
      stdout: JSON.stringify({ AccessKeyId: 'A2', SecretAccessKey: 'K2', SessionToken: 'T2', Expiration: expires }),
    };
    const profile = find({ ...aws, AWS_PROFILE: 'sso' });
    const secret = await profile.current();
    expect([JSON.parse(secret.value).sessionToken, secret.expiresMs]).toEqual(['T2', Date.parse(expires)]);
    expect(asked.at(-1)).toEqual(['aws', 'configure', 'export-credentials', '--format', 'process', '--profile', 'sso']);
    expect(JSON.stringify([profile, asked])).not.toMatch(/K2|T2/);

    const google = { CLAUDE_CODE_USE_VERTEX: 'true', ANTHROPIC_VERTEX_PROJECT_ID: 'mine', CLOUD_ML_REGION: 'global' };
    expect(find(google).cloud?.url).toBe('https://aiplatform.googleapis.com/v1');
    await expect(find(google).current()).rejects.toMatchObject({ hint: expect.stringContaining('gcloud auth') });
    says['gcloud'] = { status: 0, stdout: 'from-gcloud\n' };
    expect(await find(google).current()).toMatchObject({ kind: 'auth-token', value: 'from-gcloud' });
    const adc = path.join(home, 'adc.json');
    const login = { type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'r', token_uri: url };
    writeFileSync(adc, JSON.stringify(login));
    const named = { ...google, GOOGLE_APPLICATION_CREDENTIALS: adc };
    expect((await find(named).current()).value).toBe('google-1');
    expect(forms[0]?.get('refresh_token')).toBe('r');
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
    writeFileSync(
      adc,
      JSON.stringify({ type: 'service_account', client_email: 'a@b', private_key: key, token_uri: url }),
    );
    expect((await find(named).current()).value).toBe('google-2');
    const [head = '', claim = '', signature = ''] = forms[1]?.get('assertion')?.split('.') ?? [];
    expect(verify('RSA-SHA256', Buffer.from(`${head}.${claim}`), publicKey, Buffer.from(signature, 'base64url'))).toBe(
      true,
    );
    expect(JSON.parse(Buffer.from(claim, 'base64url').toString())).toMatchObject({ iss: 'a@b', aud: url });

    const skip = { ...aws, CLAUDE_CODE_SKIP_BEDROCK_AUTH: '1', ANTHROPIC_BEDROCK_BASE_URL: 'https://llm.corp.test' };
    const company = find({ ...skip, ANTHROPIC_AUTH_TOKEN: 'corp' });
    expect([company.cloud?.url, await company.current()]).toEqual([
      'https://llm.corp.test',
      { kind: 'auth-token', value: 'corp' },
    ]);
    expect(() => find(skip)).toThrow('ANTHROPIC_AUTH_TOKEN');
    expect(() => find({ CLAUDE_CODE_USE_VERTEX: '1' })).toThrow('needs a project');
    expect(() => find({ CLAUDE_CODE_USE_FOUNDRY: '1' })).toThrow('Foundry');
    expect(() => find({ ...aws, AWS_REGION: 'x/../y' })).toThrow('not a plain name');
    expect(
      modelVariables({
        ANTHROPIC_MODEL: 'eu.anthropic.claude-opus-5[1m]',
        ANTHROPIC_API_KEY: 'k',
        ANTHROPIC_DEFAULT_OPUS_MODEL: 'a b',
      }),
    ).toEqual({
      ANTHROPIC_MODEL: 'eu.anthropic.claude-opus-5[1m]',
    });
    expect((await runProgram(['no-such-program-here'])).status).toBe(127);
  } finally {
    endpoint.close();
    rmSync(home, { recursive: true });
  }
});
