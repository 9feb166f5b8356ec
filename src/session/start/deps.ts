import type { TakeLook } from '../../base/prescan.ts';
import type { Report } from '../../report/schema.ts';
import type { Screen } from '../../terminal/ask.ts';
import type { Interruption } from '../../terminal/interruption.ts';
import type { CredentialSource } from '../../types/credential.ts';
import type { Engine } from '../../types/engine.ts';
import type { Tell } from '../../types/event.ts';
import type { HostFacts } from '../../types/plan.ts';

/** Where a report goes, settled before anything starts. */
export interface ReportPlace {
  write(report: Report): void;
}

/** What deciding and applying need: the person and this machine. */
export interface PersonDeps {
  readonly host: HostFacts;
  readonly tell: Tell;
  /** The person's terminal; undefined where questions cannot be asked. */
  readonly screen: Screen | undefined;
  readonly interruption: Interruption;
  /** Where --report wants the outcome. */
  readonly report?: ReportPlace;
}

/** What a session is handed besides its plan; nothing in it is global. */
export interface SessionDeps extends PersonDeps {
  readonly engine: Engine;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's credential where the command has found it already; a session without this field looks for it. */
  readonly credential?: { readonly source: CredentialSource | undefined };
  /** A look at the project that the command began with. */
  readonly ahead?: TakeLook | undefined;
}
