import { homeAgent } from '../../agents/agents.ts';
import { EXIT } from '../../core/errors.ts';
import { baseDirOf } from '../../session/plan/plan-run.ts';
import { findLogin, requireLogin } from '../../session/start/find-login.ts';
import { type AskingPlace, type CheckedRun, setUpRun } from '../../session/start/set-up-run.ts';
import type { StartDeps } from '../../session/start/start-session.ts';
import { prescanProject } from '../../workspace/base/prescan-project.ts';
import { beginEarlyScan } from '../../workspace/bind/early-scan.ts';
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
  const place = line.background === true ? withOwnTerminal(askingPlace(context), line) : askingPlace(context);
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
      await printDryRun(setup, context, { ...login, entering: await scan.entering }, line);
      return 0;
    }
    await requireLogin(setup.input, login.source, env);
    const { startSession, withReadyStart } = await import('../../session/start/start-session.ts');
    if (line.background === true) {
      const { startAway } = await import('../run/start-away.ts');
      const deps = { ...startDeps(setup, login, context, screen), ...scan, isUnattended: true };
      return (await withReadyStart(setup, deps, (plan) => startAway(plan, context))) ?? EXIT.interrupted;
    }
    return await startSession(setup, { ...startDeps(setup, login, context, screen), ...scan });
  } finally {
    await chosen.engine.close();
  }
}

/** In the background an agent and a shell have a terminal, whatever this command has; a command prints. */
function withOwnTerminal(place: AskingPlace, { program }: RunLine): AskingPlace {
  const isShown = program.kind !== 'exec';
  return { ...place, host: { ...place.host, stdinTty: isShown, stdoutTty: isShown } };
}

/** Begins what a start needs, while the engine is asked: the scan of the project, which a dry run needs too, and loading the code. */
function beginScan(
  { policy, project, program }: CheckedRun,
  baseDir: string,
  line: RunLine,
  signal: AbortSignal,
): Pick<StartDeps, 'prescan' | 'earlyScan' | 'entering'> {
  const prescan = prescanProject({ policy, project }, baseDir, signal, { typed: typedPatterns(line) });
  const bound = policy.mode === 'bind' ? beginEarlyScan(project, policy) : undefined;
  const scan = { prescan: prescan?.take, earlyScan: bound?.take, entering: (prescan ?? bound)?.counted };
  if (line.action !== 'run') return scan;
  void import('../../session/start/start-session.ts');
  homeAgent(program)
    .loadHome()
    .catch(() => undefined);
  return scan;
}

/** What the user typed to leave out or to empty files: a file of settings is for other projects too. */
function typedPatterns({ flags }: RunLine): readonly string[] {
  return flags
    .filter(({ flag }) => flag === '--exclude' || flag === '--mask')
    .flatMap(({ value }) => (Array.isArray(value) ? value : []));
}
