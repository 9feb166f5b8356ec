import { homeAgent } from '../../agents/agents.ts';
import { EXIT } from '../../core/errors.ts';
import { baseDirOf } from '../../session/plan/plan-run.ts';
import { credentialLookup, refuseAsFile } from '../../session/stage/credential.ts';
import type { SessionDeps } from '../../session/stage/deps.ts';
import { countEntering, type Entering } from '../../workspace/base/entering.ts';
import { prescanProject } from '../../workspace/base/prescan-project.ts';
import type { CommandContext } from '../context/context.ts';
import { openScreen } from '../context/open-screen.ts';
import type { RunLine } from '../grammar/parse-command-line.ts';
import { policyWithMode } from '../start/ask-mode.ts';
import { credentialText } from '../start/credential-text.ts';
import { isLoginMissing, requireLogin } from '../start/require-login.ts';
import { setUpRun } from '../start/set-up-run.ts';

/** Plans a session, and prints, checks or runs the plan. Returns the exit status. */
export async function runCommand(line: RunLine, context: CommandContext): Promise<number> {
  if (line.action === 'check') {
    const { checkRun } = await import('../start/check-run.ts');
    return checkRun(line, context);
  }
  const over = new AbortController();
  try {
    return await planAndRun(line, context, AbortSignal.any([over.signal, context.interruption.signal]));
  } finally {
    over.abort();
  }
}

async function planAndRun(line: RunLine, context: CommandContext, signal: AbortSignal): Promise<number> {
  let prescan: SessionDeps['prescan'];
  let entering: Entering | undefined;
  const screen = openScreen(process, context.env, context.interruption);
  const merged = await policyWithMode(line, context, process, screen);
  if (merged === undefined) return EXIT.interrupted;
  const setup = await setUpRun(line, context, process, {
    merged,
    onFacts: ({ policy, project, host }) => {
      if (line.action !== 'run') return;
      prescan = prescanProject({ policy, project }, baseDirOf(host, project, policy), signal, (walked) => {
        entering = countEntering(walked, typedPatterns(line));
      });
      // Loaded while the project is scanned and the engine is asked.
      void import('../start/start-session.ts');
      homeAgent(line.program)
        .loadHome()
        .catch(() => undefined);
    },
  });
  const { policy, host } = setup;
  const { program } = line;
  try {
    for (const text of setup.warnings) context.tell({ kind: 'message', level: 'warning', text });
    const findCredential = credentialLookup(context.env, host);
    const source = await findCredential({ program, policy });
    const text = credentialText(source, policy, homeAgent(program));
    if (line.action === 'dry-run') {
      const { printDryRun } = await import('../start/plan-only.ts');
      await printDryRun(setup, context, { source, shown: text }, line);
      return 0;
    }
    requireLogin(program, policy, source);
    await refuseAsFile({ policy, program }, source);
    const { startSession } = await import('../start/start-session.ts');
    const shown = isLoginMissing(source, policy) ? undefined : text;
    return await startSession(setup, context, { shown, findCredential, screen, entering: () => entering }, prescan);
  } finally {
    await setup.engine.close();
  }
}

/** What the user typed to leave out or to empty files: a file of settings is for other projects too. */
function typedPatterns({ flags }: RunLine): readonly string[] {
  return flags
    .filter(({ flag }) => flag === '--exclude' || flag === '--mask')
    .flatMap(({ value }) => (Array.isArray(value) ? value : []));
}
