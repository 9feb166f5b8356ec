import { knownTrial } from '../../layer/try-layers.ts';
import { withTrial } from '../../plan/plan-run.ts';
import { newSessionId } from '../../record/id.ts';
import { sessionImage } from '../../session/start/prepare-image.ts';
import type { CredentialSource } from '../../types/credential.ts';
import type { Plan } from '../../types/plan.ts';
import { ownerHere } from '../context/connect-ours.ts';
import type { CommandContext } from '../context/context.ts';
import { dryRunText } from './dry-run.ts';
import type { Prepared } from './prepare.ts';

/** The plan of a session that is not started: with what earlier sessions found about overlay volumes here. */
export function planWithKnownTrial({ engine, host, plan }: Prepared, sessionId: string, image: string): Plan {
  const planned = plan(sessionId, image);
  return withTrial(planned, knownTrial({ engine, stateDir: host.stateDir, image, user: planned.user }));
}

/** `--dry-run`: what would be started, and how. */
export async function printDryRun(
  prepared: Prepared,
  context: CommandContext,
  credential: { readonly source: CredentialSource | undefined; readonly shown: string },
): Promise<void> {
  const image = await sessionImage(prepared.policy, prepared.engine, context.env);
  const plan = planWithKnownTrial(prepared, newSessionId(Date.now()), image);
  context.write(dryRunText(plan, { ...credential, env: context.env, owner: ownerHere(context) }));
}
