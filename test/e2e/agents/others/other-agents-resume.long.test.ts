import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';
import { COPILOT_MODELS } from '../../../support/stand-in/copilot-models.ts';
import { startGeminiApi } from '../../../support/stand-in/gemini-api.mjs';
import { startMessagesApi } from '../../../support/stand-in/messages-api.mjs';
import { startResponsesApi } from '../../../support/stand-in/responses-api.mjs';

// The real agents besides Claude, each driven by a stand-in of its provider: `resume` continues the session's own
// conversation, and nothing of it is in the agent's directory of this machine.

const FIRST = 'remember the word quartzite';
const SECOND = 'which word was it';

interface Driven {
  readonly env: Readonly<Record<string, string>>;
  readonly ask: (prompt: string) => readonly string[];
  readonly requests: () => readonly unknown[];
  /** The agent's directories in the home of this machine. */
  readonly dirs: readonly string[];
}

async function resumes(agent: string, { env, ask, requests, dirs }: Driven): Promise<void> {
  await using scene = new Scene({ env });
  const run = ['--agent', agent, '--copy-workspace', scene.project];
  const first = await scene.run([...run, '--', ...ask(FIRST)]);
  expect(first.stdout, first.stderr).toContain('It is noted.');
  expect(first.stderr).toContain('To continue this session: run-claude resume');
  const before = requests().length;
  const second = await scene.run(['resume', '--', ...ask(SECOND)]);
  expect(second.stdout, second.stderr).toContain('It was quartzite.');
  const asked = JSON.stringify(requests().slice(before));
  expect(asked).toContain(SECOND);
  expect(asked).toContain(FIRST);
  expect(asked).toContain('It is noted.');
  for (const dir of dirs) expect([dir, existsSync(path.join(scene.home, dir))]).toEqual([dir, false]);
}

// A run that leaves no change to decide about leaves nothing to continue.
const TURNS = [{ commands: ['echo quartzite > noted.txt'] }, { text: 'It is noted.' }, { text: 'It was quartzite.' }];

it('Codex', async () => {
  const standIn = await startResponsesApi({ turns: TURNS, accepts: () => true });
  try {
    await resumes('codex', {
      env: { OPENAI_BASE_URL: `${standIn.url}/v1`, CODEX_API_KEY: 'sk-x' },
      ask: (prompt) => ['exec', prompt],
      requests: () => standIn.requests.map(({ body }) => body),
      dirs: ['.codex'],
    });
  } finally {
    await standIn.close();
  }
});

it('Gemini CLI', async () => {
  const standIn = await startGeminiApi({ turns: TURNS, accepts: () => true });
  try {
    await resumes('gemini', {
      env: { GOOGLE_GEMINI_BASE_URL: standIn.url, GEMINI_API_KEY: 'AIza-x' },
      ask: (prompt) => ['-p', prompt],
      requests: () => standIn.requests.map(({ body }) => body),
      dirs: ['.gemini'],
    });
  } finally {
    await standIn.close();
  }
});

it('opencode', async () => {
  const input = { command: 'echo quartzite > noted.txt', description: 'step' };
  const standIn = await startMessagesApi({
    turns: [{ tools: [{ name: 'bash', input }] }, ...TURNS.slice(1), { text: 'Done.' }],
  });
  try {
    await resumes('opencode', {
      env: { ANTHROPIC_BASE_URL: standIn.url, ANTHROPIC_API_KEY: 'sk-ant-x' },
      ask: (prompt) => ['run', prompt],
      requests: () => standIn.requests.map(({ body }) => body),
      dirs: ['.local/share/opencode', '.config/opencode'],
    });
  } finally {
    await standIn.close();
  }
});

it('Copilot CLI', async () => {
  const standIn = await startResponsesApi({ turns: TURNS, accepts: () => true, models: COPILOT_MODELS });
  try {
    await resumes('copilot', {
      env: { COPILOT_API_URL: standIn.url, COPILOT_GITHUB_TOKEN: 'ghu_x' },
      ask: (prompt) => ['-p', prompt],
      requests: () => standIn.requests.map(({ body }) => body),
      dirs: ['.copilot'],
    });
  } finally {
    await standIn.close();
  }
});
