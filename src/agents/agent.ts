import type { AgentName, AgentPackage } from '../core/types/agent/agent-package.ts';
import type { ClaudeData, ClaudeOutcome, ContinuedFile } from '../core/types/agent/claude-data.ts';
import type { CredentialSource, Secret } from '../core/types/agent/credential.ts';
import type { OwnAgent } from '../core/types/agent/own-agent.ts';
import type { ContentReader } from '../core/types/entry.ts';
import type { Claim } from '../core/types/log-event.ts';
import type { Policy } from '../core/types/policy.ts';
import type { BringBack } from './claude/back/apply.ts';
import type { CollectOptions } from './claude/back/collection.ts';
import type { CredentialFile } from './claude/credentials/credential-file.ts';
import type { Instance } from './claude/instances/instance.ts';
import type { StagedClaude } from './claude/stage/stage.ts';
import type { StageOptions } from './claude/stage/stage-options.ts';

/**
 * An agent that a session can run: all that run-claude has to know about its program. Reading a command line loads only
 * its plain values; the functions that touch the disk are loaded when a session needs them.
 */
export type Agent = AgentParts &
  (
    | { /** In session records, and in listings. */ readonly name: AgentName; readonly own?: undefined }
    | { readonly name: string /** The table that it is made of. */; readonly own: OwnAgent }
  );

export interface AgentParts {
  /** In messages. */
  readonly title: string;
  /** The words that start it inside; the first is found on the PATH there. */
  readonly program: readonly string[];
  /** Its package, a layer over the image; undefined where every image has the program. */
  readonly image: AgentPackage | undefined;
  /** The file with the user's instructions, at the top of the agent's configuration directory. */
  readonly instructionsFile: string | undefined;
  /** Where the program keeps its settings, logins and conversations, relative to the home: what may come back from it is in these. */
  readonly homePaths: readonly string[];
  /** How to get a credential: an imperative without a full stop. Undefined where the agent needs none. */
  readonly loginHint: string | undefined;
  /** What its requests are answered where there is no credential. */
  readonly noLogin: string;
  /** Hosts that the program contacts by itself: refused, logged, and not shown. */
  readonly quietHosts: readonly string[];
  readonly commandLine: AgentCommandLine;
  readonly broker: AgentBroker;
  readonly loadCredentials: () => Promise<AgentCredentials>;
  readonly loadHome: () => Promise<AgentHome>;
  readonly loadData: () => Promise<AgentData>;
}

/** How the agent reads its words. Pure. */
export interface AgentCommandLine {
  /** Names of its options, with their dashes. */
  readonly optionNames: readonly string[];
  /** Those with which the program ends at once, and the agent goes on without it. */
  readonly detachingOptions?: readonly string[];
  /** A word as options of the agent; undefined for any other word. */
  readonly readOption: (word: string) => AgentOption | undefined;
  /** Whether the words ask for one answer on stdout, without a terminal. */
  readonly asksForPrint: (words: readonly string[]) => boolean;
  /** The prompt among the words. */
  readonly promptOf: (words: readonly string[]) => string | undefined;
  /** Whether the words choose the conversation to continue or to begin. */
  readonly choosesConversation: (words: readonly string[]) => boolean;
  /** The id of the conversation that the words continue. */
  readonly namedConversation: (words: readonly string[]) => string | undefined;
  /** The words, with those that continue a conversation. */
  readonly resumeWords: (conversation: string, words: readonly string[]) => readonly string[];
  /** Those of the words that choose a permission mode, unchanged. */
  readonly permissionWords: (words: readonly string[]) => readonly string[];
  /** The words, with the policy's permission mode unless they choose one. */
  readonly withPermissions: (words: readonly string[], permissions: Policy['permissions']) => readonly string[];
}

/** One word of an agent's options. */
export interface AgentOption {
  /** How many words it takes after this one: none, one, one or none, one or more. */
  readonly arity: 'none' | 'one' | 'optional' | 'many';
  /** Its value is in the same word. */
  readonly joined: boolean;
}

/** How the agent is pointed at the gateway's broker, which has the credential. Pure. */
export interface AgentBroker {
  /** What is inside in place of a credential of that kind. */
  readonly placeholder: (kind: Secret['kind'] | undefined) => string;
  /** The agent's variables; `env` is this process's environment. */
  readonly variables: (
    source: Pick<CredentialSource, 'kind' | 'cloud'> | undefined,
    url: string,
    env: NodeJS.ProcessEnv,
  ) => Readonly<Record<string, string>>;
}

export interface AgentCredentials {
  /**
   * The credential that the agent would use on this host; undefined when there is none.
   *
   * @throws {RunClaudeError} CREDENTIAL_UNREADABLE
   */
  readonly find: (places: {
    readonly env: NodeJS.ProcessEnv;
    readonly home: string;
    readonly platform: NodeJS.Platform;
  }) => Promise<CredentialSource | undefined>;
  /** The credential as a file inside, for `--credentials=file`; undefined where that is not offered. */
  readonly asFile: ((source: CredentialSource) => CredentialFile) | undefined;
}

/** What is staged: the agent's part of the user's home directory. */
export interface AgentHome {
  /** @throws {RunClaudeError} INSTANCE_FOREIGN, PROFILE_MISSING */
  readonly stage: (options: HomeOptions) => Promise<StagedClaude>;
  /**
   * The directory with the agent's conversations, relative to the home: its own volume with `--isolate-claude-data`.
   * Undefined where that is not offered.
   */
  readonly conversationsDir: string | undefined;
}

export interface HomeOptions extends Omit<StageOptions, 'configDir' | 'settings' | 'links' | 'run'> {
  /** With `--credentials=file`. */
  readonly credentialFile: CredentialFile | undefined;
  readonly credential: CredentialSource | undefined;
  /** The conversation of the session's earlier run, of an agent besides Claude. */
  readonly continued?: readonly ContinuedFile[];
  /** Where the broker listens inside; undefined without one. */
  readonly brokerUrl: string | undefined;
}

/** What comes back from the agent's home, by an allowlist. */
export interface AgentData {
  /** What a line of a frozen transcript says of prompts and calls of tools; undefined where run-claude cannot read it. */
  readonly claimsOfLine?: (line: string) => readonly Claim[];
  /** Reads and freezes what may come back. Precondition: the agent has ended. */
  readonly collect: (options: CollectOptions) => Promise<ClaudeData>;
  /** Writes frozen data to the project's instance; in a dry run, finds what would become of it. */
  readonly apply: (
    data: ClaudeData,
    store: ContentReader,
    instance: Instance,
    options: BringBack,
  ) => Promise<readonly ClaudeOutcome[]>;
}
