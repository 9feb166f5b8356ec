import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../../support/scene.ts';
import { type CloudApi, startCloudApi } from '../../../../support/stand-in/cloud-api.ts';

// The real Claude Code inside, configured for Bedrock or Vertex AI; the keys stay outside and the gateway signs.

const step = (command: string) => ({ tools: [{ name: 'Bash', input: { command, description: 'step' } }] });
const SEARCH = step(
  'env > environment.txt; grep -rasl SECRET[-]CLOUD /home/agent /run /tmp /proc/[0-9]*/environ > found.txt; true',
);
const TURNS = () => [SEARCH, { text: 'It was the cloud.' }];

/** The output of a session, and which of its files contain the credential. */
async function session(scene: Scene, api: CloudApi): Promise<string[]> {
  const result = await scene.run(['--copy-workspace', '--auto-apply', scene.project, '-p', 'look around']);
  expect([result.stdout.trim(), result.status], result.stderr).toEqual(['It was the cloud.', 0]);

  const read = (name: string): string => readFileSync(path.join(scene.project, name), 'utf8');
  expect(read('found.txt')).toBe('');
  expect(read('environment.txt')).not.toContain('SECRET-CLOUD');
  expect(api.seen.every(({ good }) => good)).toBe(true);
  return read('environment.txt').split('\n');
}

it('Bedrock: signed by the gateway with the keys of a profile; the agent has neither keys nor token', async () => {
  const keys = { id: 'AKIDTEST', key: 'SECRET-CLOUD-KEY', token: 'SECRET-CLOUD-TOKEN' };
  await using api = await startCloudApi({ turns: TURNS(), keys: () => keys });
  await using scene = new Scene({
    env: {
      CLAUDE_CODE_USE_BEDROCK: '1',
      AWS_REGION: 'eu-west-1',
      AWS_PROFILE: 'work',
      ANTHROPIC_BEDROCK_BASE_URL: api.url,
    },
  });
  const bin = path.join(scene.root, 'bin');
  mkdirSync(bin);
  const answer = { Version: 1, AccessKeyId: keys.id, SecretAccessKey: keys.key, SessionToken: keys.token };
  const script = `#!/bin/sh\n[ "$*" = "configure export-credentials --format process --profile work" ] || exit 9\necho '${JSON.stringify(answer)}'\n`;
  writeFileSync(path.join(bin, 'aws'), script);
  chmodSync(path.join(bin, 'aws'), 0o755);
  Object.assign(scene.env, { PATH: `${bin}:${scene.env['PATH']}` });
  const env = await session(scene, api);
  expect(env).toEqual(expect.arrayContaining(['CLAUDE_CODE_USE_BEDROCK=1', 'AWS_REGION=eu-west-1']));
  expect(api.seen.at(-1)?.line).toMatch(/^POST \/model\/eu\.anthropic\.claude-[^/]+\/invoke-with-response-stream$/);
  const refused = await scene.run(['--copy-workspace', '--credentials=file', '--yes', scene.project, '-p', 'x']);
  expect([refused.status, refused.stderr]).toEqual([
    2,
    expect.stringContaining('ERROR USAGE: --credentials=file: not with AWS profile work'),
  ]);
  // A command line that cannot work makes no session.
  const listed = JSON.parse((await scene.run(['sessions', '--json'])).stdout) as readonly { readonly stage: string }[];
  expect(listed.filter(({ stage }) => stage === 'failed')).toEqual([]);
});

it('Vertex AI: the access token of the host’s login, renewed on the host; another project is refused', async () => {
  await using api = await startCloudApi({ turns: TURNS(), bearer: () => 'SECRET-CLOUD-ACCESS' });
  const env = {
    CLAUDE_CODE_USE_VERTEX: '1',
    CLOUD_ML_REGION: 'europe-west1',
    ANTHROPIC_VERTEX_PROJECT_ID: 'my-project',
  };
  await using scene = new Scene({ env: { ...env, ANTHROPIC_VERTEX_BASE_URL: `${api.url}/v1` } });
  const bin = path.join(scene.root, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'gcloud'), '#!/bin/sh\necho SECRET-CLOUD-ACCESS\n');
  chmodSync(path.join(bin, 'gcloud'), 0o755);
  Object.assign(scene.env, { PATH: `${bin}:${scene.env['PATH']}` });
  await session(scene, api);
  expect(api.seen.at(-1)?.line).toMatch(
    /^POST \/v1\/projects\/my-project\/locations\/europe-west1\/publishers\/anthropic\/models\/claude-[^/]+:streamRawPredict$/,
  );
});
