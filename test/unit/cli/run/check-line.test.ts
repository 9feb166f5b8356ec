import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { CommandContext } from '../../../../src/cli/context/context.ts';
import { parseCommandLine, type RunLine } from '../../../../src/cli/grammar/parse-command-line.ts';
import { askingPlace } from '../../../../src/cli/run/asked-run.ts';
import { checkLine } from '../../../../src/cli/run/check-line.ts';
import type { Screen } from '../../../../src/terminal/screen.ts';

/** A first start on a terminal, where nothing chooses the mode. The screen throws at the first thing that is asked on it. */
function firstStart(words: readonly string[], env: NodeJS.ProcessEnv) {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-check-line-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const names = ['home', 'project', 'state', 'cache', 'data', 'config'];
  const [home, project, stateDir, cacheDir, dataDir, configDir] = names.map((name) => path.join(root, name));
  for (const name of names) mkdirSync(path.join(root, name));
  const told: string[] = [];
  const context = {
    env,
    cwd: project,
    places: { home, stateDir, cacheDir, dataDir, configDir },
    tell: (event: { readonly text?: string }) => void told.push(event.text ?? ''),
    interruption: { signal: new AbortController().signal },
  } as unknown as CommandContext;
  const line = parseCommandLine(words, () => false) as RunLine;
  const screen = {} as Screen;
  return { told, checked: checkLine(line, context, askingPlace(context), screen) };
}

const NO_ENGINE = { DOCKER_HOST: 'unix:///nonexistent/docker.sock' };

it.each([
  ['a login that is missing', [], NO_ENGINE, 'CREDENTIAL_MISSING'],
  ['an engine that does not answer', ['--shell'], NO_ENGINE, 'ENGINE_UNREACHABLE'],
  ['an engine that does not answer, with a login', [], { ...NO_ENGINE, ANTHROPIC_API_KEY: 'x' }, 'ENGINE_UNREACHABLE'],
  ['options that contradict each other', ['--toolchain', '--image', 'x'], NO_ENGINE, 'USAGE'],
])('%s ends the start before the user is asked for the mode', async (_, words, env, code) => {
  const { checked, told } = firstStart(words, env);
  await expect(checked).rejects.toMatchObject({ code });
  expect(told).toEqual([]);
});
