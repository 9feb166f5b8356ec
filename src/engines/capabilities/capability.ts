import type { ContainerSpec, VolumeSpec } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Policy } from '../../core/types/policy.ts';
import type { Column } from './columns.ts';

type RefusalCode = 'USAGE' | 'RENDER_LOSS' | 'ENGINE_NO_GPU';

/** What a runtime or a rendered form does about one part of a session. */
export type Cell =
  /** `by`: the field that has it there, for the documents. */
  | { readonly is: 'supported'; readonly by: string }
  /**
   * The part is lost: a session starts only where the user named the layer (`--without-layer`). `onNodes`: only on some
   * nodes, which is known when a session runs there.
   */
  | { readonly is: 'unsupported'; readonly lost: string; readonly by?: string; readonly onNodes?: true }
  /** No session with it starts. */
  | { readonly is: 'refused'; readonly code: RefusalCode; readonly hint: string };

/** What of a session is known where it is asked for: each part that is given is looked at. */
export interface Asked {
  readonly policy?: Partial<Policy>;
  readonly also?: Plan['also'];
  readonly program?: Plan['program'];
  /** The session has a terminal. */
  readonly tty?: boolean;
  /** The image layer of the agent's program; undefined for the agent that every image has. */
  readonly agentLayer?: object | undefined;
  readonly spec?: Partial<ContainerSpec>;
  readonly volume?: VolumeSpec;
}

/** A row of the table: one part of a container or of a session, and what each runtime and form does about it. */
export interface Capability {
  /** What it keeps out, or what it is for. */
  readonly what: string;
  /** As the user writes it, in messages. */
  readonly words: string;
  readonly cells: Readonly<Record<Column, Cell>>;
  /** Whether a session or a container has the part. */
  readonly isAsked: (asked: Asked) => boolean;
  /** How the lines of init's proof begin that cannot hold without it. */
  readonly proof?: readonly string[];
  /** How the names of the probes begin that get through without it. */
  readonly probes?: readonly string[];
}

export const by = (field: string): Cell => ({ is: 'supported', by: field });

/** A field, and what is lost where the runtime has none or not all of it. */
export const lost = (what: string, field?: string): Cell =>
  field === undefined ? { is: 'unsupported', lost: what } : { is: 'unsupported', lost: what, by: field };

export const refused = (hint: string, code: RefusalCode = 'USAGE'): Cell => ({ is: 'refused', code, hint });
