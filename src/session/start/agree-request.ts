import type { ProjectRequest } from '../../core/types/setup/request.ts';
import { refuseTakenPorts } from '../../network/gateway/rules/local-services.ts';
import { parsePorts } from '../../network/preview/port-words.ts';
import { askYesNo } from '../../terminal/ask.ts';
import { cleanLine } from '../../terminal/clean.ts';
import { decideRequest, describeRequest, requestDigest, requestRefused, withRequest } from '../plan/requests.ts';
import { approvedRequests, rememberRequest } from '../record/approved-requests.ts';
import type { UserDeps } from '../stage/deps.ts';
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
  { tell, interruption, screen }: Pick<UserDeps, 'tell' | 'interruption' | 'screen'>,
): Promise<RunSetup | undefined> {
  const { request, input } = setup;
  const decision = decide(setup, screen !== undefined);
  if (request === undefined || decision === 'nothing') return setup;
  if (decision === 'approved') return withAgreed(setup, request);
  for (const text of requestLines(request)) tell({ kind: 'message', level: 'warning', text });
  if (decision === 'refuse' || screen === undefined) throw requestRefused(request);
  const isAllowed = await askYesNo(screen, requestQuestion());
  interruption.signal.throwIfAborted();
  if (!isAllowed) {
    tell({ kind: 'message', level: 'info', text: 'The session was not started.' });
    return undefined;
  }
  rememberRequest(input.host.stateDir, input.project.root, requestDigest(request));
  return withAgreed(setup, request);
}

/**
 * As {@link agreeRequest}, for a plan that is only shown: `unapproved` is the request that is not part of it, in lines.
 */
export function agreedBefore(setup: RunSetup): { readonly setup: RunSetup; readonly unapproved: readonly string[] } {
  const { request } = setup;
  if (request === undefined) return { setup, unapproved: [] };
  if (decide(setup, false) === 'approved') return { setup: withAgreed(setup, request), unapproved: [] };
  return { setup, unapproved: requestLines(request) };
}

function decide({ request, input }: RunSetup, canAsk: boolean): ReturnType<typeof decideRequest> {
  const { policy, host, project } = input;
  return decideRequest({ request, pinned: approvedRequests(host.stateDir, project.root), policy, canAsk });
}

/** The setup with the request in its policy. */
function withAgreed(setup: RunSetup, request: ProjectRequest): RunSetup {
  const policy = withRequest(setup.input.policy, request);
  refuseTakenPorts(policy);
  parsePorts(policy.ports ?? []);
  return { ...setup, input: { ...setup.input, policy }, request: undefined };
}

/** The whole request, and how to agree to it without a terminal. */
function requestLines(request: ProjectRequest): string[] {
  return [
    SHOWN,
    ...describeRequest(request).map((line) => `  ${cleanLine(line)}`),
    `Nothing of it has run. Without a terminal, this agrees to it: --approve ${requestDigest(request)}`,
  ];
}
