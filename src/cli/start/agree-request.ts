import type { ProjectRequest } from '../../core/types/request.ts';
import { decideRequest, describeRequest, requestDigest, requestRefused } from '../../session/plan/requests.ts';
import { approvedRequests, rememberRequest } from '../../session/record/approved-requests.ts';
import type { SessionDeps } from '../../session/stage/deps.ts';
import { askYesNo } from '../../terminal/ask.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { CommandContext } from '../context/context.ts';
import { requestQuestion } from './questions.ts';
import type { RunSetup } from './set-up-run.ts';

const SHOWN = 'This project asks for:';

/**
 * The setup with what the project asks for, where the user agrees or agreed before; unchanged where it asks for nothing.
 * Undefined where the user says no. Nothing of the request has run when this asks.
 *
 * @throws {RunClaudeError} REQUEST_NOT_APPROVED where nobody can be asked, after the request was printed.
 */
export async function agreeRequest(
  setup: RunSetup,
  { tell, interruption }: Pick<CommandContext, 'tell' | 'interruption'>,
  screen: SessionDeps['screen'],
): Promise<RunSetup | undefined> {
  const { request } = setup;
  const decision = decide(setup, screen !== undefined);
  if (request === undefined || decision === 'nothing') return setup;
  if (decision === 'approved') return setup.accept();
  for (const text of requestLines(request)) tell({ kind: 'message', level: 'warning', text });
  if (decision === 'refuse' || screen === undefined) throw requestRefused(request);
  const isAllowed = await askYesNo(screen, requestQuestion());
  interruption.signal.throwIfAborted();
  if (!isAllowed) {
    tell({ kind: 'message', level: 'info', text: 'The session was not started.' });
    return undefined;
  }
  rememberRequest(setup.host.stateDir, setup.root, requestDigest(request));
  return setup.accept();
}

/**
 * As {@link agreeRequest}, for a plan that is only shown: `unapproved` is the request that is not part of it, in lines.
 */
export function planRequest(setup: RunSetup): { readonly setup: RunSetup; readonly unapproved: readonly string[] } {
  const { request } = setup;
  if (request === undefined) return { setup, unapproved: [] };
  if (decide(setup, false) === 'approved') return { setup: setup.accept(), unapproved: [] };
  return { setup, unapproved: requestLines(request) };
}

function decide({ request, policy, host, root }: RunSetup, canAsk: boolean): ReturnType<typeof decideRequest> {
  return decideRequest({ request, pinned: approvedRequests(host.stateDir, root), policy, canAsk });
}

/** The whole request, and how to agree to it without a terminal. */
function requestLines(request: ProjectRequest): string[] {
  return [
    SHOWN,
    ...describeRequest(request).map((line) => `  ${cleanLine(line)}`),
    `Nothing of it has run. Without a terminal, this agrees to it: --approve ${requestDigest(request)}`,
  ];
}
