import { homeAgent } from '../../agents/agents.ts';
import type { CredentialSource } from '../../core/types/credential.ts';
import type { Plan } from '../../core/types/plan.ts';
import { withTrial } from '../../session/plan/plan-run.ts';
import { newSessionId } from '../../session/record/id.ts';
import { type SessionImage, serviceImages, sessionImage } from '../../session/stage/prepare-image.ts';
import { knownTrial } from '../../workspace/layer/try-layers.ts';
import type { CommandContext } from '../context/context.ts';
import { ownerHere } from '../engines/open-engine.ts';
import type { RunLine } from '../grammar/parse-command-line.ts';
import { planRequest } from './agree-request.ts';
import { dryRunText } from './dry-run.ts';
import type { RunSetup } from './set-up-run.ts';

/** The plan of a session that is not started. Earlier sessions found out whether overlay volumes work here. */
export function planWithKnownTrial({ engine, host, plan }: RunSetup, sessionId: string, image: SessionImage): Plan {
  const planned = plan(sessionId, image, () => newSessionId(Date.now()));
  const { ownImage = image.tag } = image;
  return withTrial(planned, knownTrial({ engine, stateDir: host.stateDir, image: ownImage, user: planned.user }));
}

/** The image that the session would run on. */
export function imageOf({ policy, engine, host, program }: RunSetup, context: CommandContext): Promise<SessionImage> {
  const { env, tell, interruption } = context;
  return sessionImage(policy, { engine, host, env, tell, interruption }, homeAgent(program).image);
}

/** `--dry-run`: prints what would be started, and how; with a form, as JSON for another runtime. */
export async function printDryRun(
  setup: RunSetup,
  context: CommandContext,
  credential: { readonly source: CredentialSource | undefined; readonly shown: string },
  { form, without = [] }: Pick<RunLine, 'form' | 'without'>,
): Promise<void> {
  const planned = planRequest(setup);
  const image = await imageOf(planned.setup, context);
  const plan = planWithKnownTrial(planned.setup, newSessionId(Date.now()), image);
  const dry = { ...credential, dataDir: context.places.dataDir, env: context.env, owner: ownerHere(context) };
  if (form !== undefined) {
    const { renderedText } = await import('./render-plan.ts');
    for (const text of planned.unapproved) context.tell({ kind: 'message', level: 'warning', text });
    context.write(await renderedText(plan, dry, { form, without }));
    return;
  }
  if (planned.unapproved.length > 0)
    context.write(`${planned.unapproved.join('\n')}\nIt is not part of this plan.\n\n`);
  const { engine, host } = planned.setup;
  const images = await serviceImages(plan, { ...context, engine, host });
  context.write(dryRunText(plan, { ...dry, serviceImages: images }));
}
