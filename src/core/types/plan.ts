import type { AgentName } from './agent/agent-package.ts';
import type { OwnAgent } from './agent/own-agent.ts';
import type { EngineFacts } from './engine.ts';
import type { Policy } from './policy.ts';
import type { MadeCache } from './setup/cache.ts';
import type { MadeEnvironment } from './setup/environment.ts';
import type { StrategyName } from './strategy.ts';

/** Facts about the project directory, gathered by the session before planning. */
export interface ProjectFacts {
  /** Real path on the host. */
  readonly root: string;
  /** Inode of that directory: a later command must not write into one that has taken its place. */
  readonly inode?: string;
  /** Where the agent starts, relative to root ('' or a subfolder with --repo). */
  readonly startIn: string;
  readonly git: 'none' | 'directory' | 'file' | 'subfolder';
  /** Real path of the git common directory, where there is one. */
  readonly gitCommonDir: string | undefined;
  /** Folders of the user's PATH that are in the project, relative to root; undefined for none. */
  readonly pathFolders?: readonly string[] | undefined;
  readonly ownerUid: number;
  readonly ownerGid: number;
}

/** Facts about this machine and its user. */
export interface HostFacts {
  readonly platform: 'linux' | 'darwin';
  readonly uid: number;
  readonly gid: number;
  readonly umask: number;
  readonly home: string;
  readonly stateDir: string;
  readonly cacheDir: string;
  readonly dataDir: string;
  readonly configDir: string;
  readonly freeDiskMb: number;
  readonly stdinTty: boolean;
  readonly stdoutTty: boolean;
  readonly stderrTty: boolean;
  readonly columns: number;
  readonly rows: number;
}

/** An agent with the words of its command line. */
export type AgentProgram = AgentWords &
  ({ readonly kind: AgentName } | { readonly kind: 'own'; readonly agent: OwnAgent });

interface AgentWords {
  readonly args: readonly string[];
  /** The words ask for one answer on stdout, without a terminal (`-p`). */
  readonly print: boolean;
}

/** What runs inside: an agent, a shell or any other command. `agent`: whose home it has; undefined for the default one. */
export type Program =
  | AgentProgram
  | { readonly kind: 'shell'; readonly args: readonly string[]; readonly agent?: AgentName | OwnAgent }
  | { readonly kind: 'exec'; readonly argv: readonly string[]; readonly agent?: AgentName | OwnAgent }
  /** No agent: the session is kept for commands that come and go. */
  | { readonly kind: 'kept'; readonly agent?: AgentName | OwnAgent };

/** Another folder that the agent gets at `/also/NAME`. Its changes are a session of their own, which shares the agent. */
export interface AlsoFolder {
  readonly name: string;
  /** The agent can't write to it, and nothing comes back. */
  readonly isReadonly: boolean;
  readonly project: ProjectFacts;
  readonly sessionId: string;
}

/** Decides everything before anything starts. JSON-ready, kept in the session's record. */
export interface Plan {
  readonly sessionId: string;
  readonly mode: 'copy' | 'bind';
  readonly project: ProjectFacts;
  readonly policy: Policy;
  readonly engine: EngineFacts;
  readonly image: string;
  /**
   * Where that is over a custom image: run-claude's own, on which all containers run but those with the agent and with the
   * user's programs. Undefined: the same.
   */
  readonly ownImage?: string | undefined;
  /** The release of Claude Code in the image; undefined for the one that run-claude pins. */
  readonly claudeVersion: string | undefined;
  readonly program: Program;
  /** A terminal is attached. */
  readonly tty: boolean;
  readonly strategy: StrategyName | 'bind';
  readonly strategyReason: string;
  /** 'uid:gid' inside. */
  readonly user: string;
  /** The umask of the agent's programs, which is the user's; undefined for 022, which containers have. */
  readonly umask?: number | undefined;
  /** The agent's whole environment apart from what the gateway adds. Never a secret. */
  readonly env: Readonly<Record<string, string>>;
  readonly diskMb: number;
  /** What the setup of `policy.environment` makes, before the session where no session ran it; undefined without a setup. */
  readonly environment?: MadeEnvironment | undefined;
  /** The caches of `policy.caches` that the project has lock files for. One that could not be filled is not used. */
  readonly caches?: readonly MadeCache[] | undefined;
  readonly sessionDir: string;
  readonly baseDir: string;
  /** What is weaker than the default, one line each, printed before start. */
  readonly weakenings: readonly string[];
  /** Undefined: none. */
  readonly also?: readonly AlsoFolder[] | undefined;
  /** Of the session of such a folder: the session whose agent works in it. */
  readonly besideSession?: string | undefined;
  /** Of a session that `batch` started: the batch and the task, `KEY/ID`. */
  readonly task?: string | undefined;
}
