import type { FoundLogin } from '../../session/start/find-login.ts';
import { planAlone } from '../../session/start/plan-alone.ts';
import type { RunSetup } from '../../session/start/set-up-run.ts';
import { type Entering, enteringWords, unmatchedLines } from '../../workspace/base/entering.ts';
import type { CommandContext } from '../context/context.ts';
import { ownerHere } from '../engines/open-engine.ts';
import type { RunLine } from '../grammar/parse-command-line.ts';
import { dryRunText } from './dry-run-text.ts';

/** `--dry-run`: prints what would be started, and how; with a form, as JSON for another runtime. */
export async function printDryRun(
  setup: RunSetup,
  context: CommandContext,
  { entering, ...login }: Pick<FoundLogin, 'source' | 'words'> & { readonly entering: Entering | undefined },
  { form, without = [] }: Pick<RunLine, 'form' | 'without'>,
): Promise<void> {
  const { plan, serviceImages, unapproved } = await planAlone(setup, context);
  const enters = entering && enteringWords(entering);
  const dry = {
    ...login,
    entering: enters,
    secrets: entering?.secrets ?? [],
    unsearched: entering?.unsearched ?? [],
    dataDir: context.places.dataDir,
    env: context.env,
    owner: ownerHere(context),
  };
  for (const text of unmatchedLines(entering)) context.tell({ kind: 'message', level: 'warning', text });
  if (form !== undefined) {
    const { renderedText } = await import('./render-plan.ts');
    for (const text of unapproved?.lines ?? []) context.tell({ kind: 'message', level: 'warning', text });
    context.write(await renderedText(plan, dry, { form, without }));
    return;
  }
  if (unapproved !== undefined) context.write(`${unapproved.lines.join('\n')}\nIt is not part of this plan.\n\n`);
  context.write(dryRunText(plan, { ...dry, serviceImages }));
}
