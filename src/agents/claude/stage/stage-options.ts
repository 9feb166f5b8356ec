import type { RunProgram } from '../../../core/host/processes/run-program.ts';
import type { JsonObject } from '../../../core/text/json-in.ts';
import type { McpServer } from '../../../core/types/policy.ts';

export interface StageOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  /** Claude's configuration directory on the host: claudeConfigDir(env, home). */
  readonly configDir: string;
  /** run-claude's configuration directory, which has the profiles. */
  readonly ownConfigDir: string;
  readonly dataDir: string;
  /** Real path on the host. */
  readonly projectRoot: string;
  readonly gitCommonDir: string | undefined;
  /** Where the agent starts, inside; default /workspace. */
  readonly workdir?: string;
  /** What is inside in place of the credential. */
  readonly placeholder?: string;
  readonly permissions: 'skip' | 'ask';
  /** Servers that the gateway logs in to: they are there without a secret, in place of the user's own of the same name. */
  readonly mcpServers?: readonly Pick<McpServer, 'name' | 'url'>[];
  readonly profile?: string;
  /** The id of a conversation to stage however old it is. */
  readonly conversation?: string | undefined;
  /** The project's Claude data is in a volume: the instance on the host stays empty. */
  readonly isolate?: boolean;
  /** Markdown about this session, after the user's instructions. */
  readonly sessionNote?: string | undefined;
  /** Settings that override the user's. */
  readonly settings?: JsonObject;
  /** Links in the home, in addition to those of `isolate`. */
  readonly links?: readonly StagedLink[];
  readonly run?: RunProgram;
}

export interface StagedLink {
  /** Relative to the home. */
  readonly path: string;
  readonly target: string;
}
