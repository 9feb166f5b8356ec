import type { Report } from '../../core/report/schema.ts';
import type { Tell } from '../../core/types/event.ts';
import type { HostFacts, Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import type { AttachedTerminal, TerminalStreams } from '../../terminal/attach/attach.ts';
import type { Interruption } from '../../terminal/interruption.ts';
import type { Screen } from '../../terminal/screen.ts';
import type { Entering } from '../../workspace/base/entering.ts';
import type { TakePrescan } from '../../workspace/base/prescan.ts';
import type { TakeEarlyScan } from '../../workspace/bind/early-scan.ts';
import type { CallUser } from '../notify/notify.ts';
import { type CredentialLookup, credentialLookup } from './credential.ts';

/** Where a report is written, checked before anything starts. */
export interface ReportPlace {
  write(report: Report): void;
}

/** What deciding and applying need: the user and this machine. */
export interface UserDeps {
  readonly host: HostFacts;
  readonly tell: Tell;
  /** The user's terminal; undefined where questions cannot be asked. */
  readonly screen: Screen | undefined;
  readonly interruption: Interruption;
  /** Where --report wants the outcome. */
  readonly report?: ReportPlace;
  /** Runs `use` with the engine of a session, for a rehearsal. Undefined where none may be opened. */
  readonly withEngine?: <T>(plan: Plan, use: (deps: SessionDeps) => Promise<T>) => Promise<T>;
}

/** What a session is handed besides its plan; nothing in it is global. */
export interface SessionDeps extends UserDeps {
  readonly engine: Runtime;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly findCredential: CredentialLookup;
  /** A scan of the project that the command began with. */
  readonly prescan?: TakePrescan | undefined;
  /** As `prescan`, in bind mode. */
  readonly earlyScan?: TakeEarlyScan | undefined;
  /** What the agent gets of the project, when the scan that began with the command has ended. */
  readonly entering?: Promise<Entering | undefined> | undefined;
  /** While the agent runs: calls the user. */
  readonly call?: CallUser | undefined;
  /** In the background: what the agent has in place of this process's terminal. */
  readonly away?: AgentTerminal | undefined;
  /** With a kept session: its door for commands. In the background: its door for terminals. */
  readonly door?: SessionDoor | undefined;
}

/** The streams of an agent that does not have those of this process. */
export interface AgentTerminal {
  readonly streams: TerminalStreams;
  /** Called once the agent has them. */
  attached(terminal: AttachedTerminal): void;
}

/** What a session opens while its container runs. */
export interface SessionDoor {
  /** Called once programs may run inside. A failure stops the session. */
  open(): Promise<void>;
  /** Called when the container has ended. */
  close(): Promise<void>;
}

/** The same with an engine and this process's environment. */
export function sessionDeps(deps: UserDeps, engine: Runtime, env: SessionDeps['env']): SessionDeps {
  return { ...deps, engine, env, findCredential: credentialLookup(env, deps.host) };
}
