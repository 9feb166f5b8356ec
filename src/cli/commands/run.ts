import { homeAgent } from '../../agents/agents.ts';
import { EXIT } from '../../core/errors.ts';
import { baseDirOf } from '../../session/plan/plan-run.ts';
import { findLogin, requireLogin } from '../../session/start/find-login.ts';
import { type CheckedRun, setUpRun } from '../../session/start/set-up-run.ts';
import type { StartDeps } from '../../session/start/start-session.ts';
import type { Entering } from '../../workspace/base/entering.ts';
import { prescanProject } from '../../workspace/base/prescan-project.ts';
import type { CommandContext } from '../context/context.ts';
import { openScreen } from '../context/open-screen.ts';
import { openChosenEngine } from '../engines/open-chosen-engine.ts';
import type { RunLine } from '../grammar/parse-command-line.ts';
import { askingPlace } from '../run/asked-run.ts';
import { checkLine } from '../run/check-line.ts';
import { startDeps } from '../run/start-deps.ts';

/** Plans a session, and prints, checks or runs the plan. Returns the exit status. */
export async function runCommand(line: RunLine, context: CommandContext): Promise<number> {
  if (line.action === 'check') {
    const { checkRun } = await import('../run/check-run.ts');
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
  const { env, interruption, tell } = context;
  const place = askingPlace(context);
  const screen = openScreen(process, env, interruption);
  const checked = await checkLine(line, context, place, screen);
  if (checked === undefined) return EXIT.interrupted;
  const isStarting = line.action === 'run';
  const scan = beginScan(checked, baseDirOf(place.host, checked.project, checked.policy), line, signal);
  const chosen = await openChosenEngine(checked.policy, context, isStarting, line.without ?? []);
  try {
    const setup = await setUpRun(checked, chosen, place);
    for (const text of setup.warnings) tell({ kind: 'message', level: 'warning', text });
    const login = await findLogin(setup.input, env, place.host);
    if (!isStarting) {
      const { printDryRun } = await import('../run/print-dry-run.ts');
      await scan.prescan?.();
      await printDryRun(setup, context, { ...login, entering: scan.entering?.() }, line);
      return 0;
    }
    await requireLogin(setup.input, login.source);
    const { startSession } = await import('../../session/start/start-session.ts');
    return await startSession(setup, { ...startDeps(setup, login, context, screen), ...scan });
  } finally {
    await chosen.engine.close();
  }
}

/** Begins what a start needs, while the engine is asked: the scan of the project, which a dry run needs too, and loading the code. */
function beginScan(
  { policy, project, program }: CheckedRun,
  baseDir: string,
  line: RunLine,
  signal: AbortSignal,
): Pick<StartDeps, 'prescan' | 'entering'> {
  let entering: Entering | undefined;
  const prescan = prescanProject({ policy, project }, baseDir, signal, {
    typed: typedPatterns(line),
    onCounted: (counted) => {
      entering = counted;
    },
  });
  if (line.action !== 'run') return { prescan, entering: () => entering };
  void import('../../session/start/start-session.ts');
  homeAgent(program)
    .loadHome()
    .catch(() => undefined);
  return { prescan, entering: () => entering };
}

/** What the user typed to leave out or to empty files: a file of settings is for other projects too. */
function typedPatterns({ flags }: RunLine): readonly string[] {
  return flags
    .filter(({ flag }) => flag === '--exclude' || flag === '--mask')
    .flatMap(({ value }) => (Array.isArray(value) ? value : []));
}
