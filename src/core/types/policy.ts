import type { Severity } from './finding.ts';
import type { SceneCommand } from './scene.ts';
import type { CacheName } from './setup/cache.ts';
import type { Environment } from './setup/environment.ts';
import type { StrategyName } from './strategy.ts';
import type { TestCommand } from './test.ts';

/** Every choice of one run, merged from defaults, config.toml, the project's file, environment and flags. */
export interface Policy {
  readonly mode: 'copy' | 'bind';
  readonly strategy: 'auto' | StrategyName;
  readonly shallow: boolean;
  readonly repo: boolean;
  readonly autoApply: boolean;
  readonly allowSuspect: readonly string[];
  readonly yes: boolean;
  readonly failOn: Severity | undefined;
  /** What --auto-apply does with the first files of a kind: hold them back, or note them. undefined: an older record; note. */
  readonly newKinds: 'ask' | 'note' | undefined;
  /** Whether a session ends with a rehearsal. Earlier releases did not record it: off. */
  readonly rehearse?: 'off' | 'ask' | 'always' | undefined;
  /** Commands of `--test`. Earlier releases did not record them, as the next two. */
  readonly test?: readonly string[] | undefined;
  /** `[[test]]` of the user's configuration. */
  readonly tests?: readonly TestCommand[] | undefined;
  /** `[[scene]]` of the user's configuration. */
  readonly scenes?: readonly SceneCommand[] | undefined;
  /** --auto-apply applies nothing unless every test passes. */
  readonly requireTests?: boolean | undefined;
  /** Folders besides the project, `DIR` or `DIR:ro`. Earlier releases did not record it. */
  readonly also?: readonly string[] | undefined;
  readonly exclude: readonly string[];
  readonly include: readonly string[];
  readonly mask: readonly string[];
  /** Files whose secrets the agent may read. Earlier releases did not record it. */
  readonly unmask?: readonly string[] | undefined;
  /** false: what ignore rules match is not copied. Undefined: it is, as in earlier releases. */
  readonly copyIgnored?: boolean | undefined;
  /** false: withheld. true: all of it. Globs: those. */
  readonly includeIgnored: boolean | readonly string[];
  readonly tmpdir: string | undefined;
  readonly memoryMb: number;
  /** 0: all. */
  readonly cpus: number;
  readonly pids: number;
  readonly tmpMb: number;
  /** undefined: 20 GB or half of what is free. */
  readonly diskMb: number | undefined;
  readonly timeoutMs: number | undefined;
  /** When a kept session without commands ends. Earlier releases did not record it. */
  readonly idleTimeoutMs?: number | undefined;
  /** A program of the user's, with its first words, that calls the user. */
  readonly notify?: readonly string[] | undefined;
  /** The machine does not go to sleep while the agent runs. Earlier releases did not record it. */
  readonly keepAwake?: boolean | undefined;
  readonly maxCostUsd: number | undefined;
  readonly maxRequests: number | undefined;
  readonly network: 'gateway' | 'none' | 'open';
  readonly allowHosts: readonly string[];
  readonly allowAddresses: readonly string[];
  readonly networkPresets: readonly string[];
  readonly brokers: readonly BrokerRule[];
  /** Undefined: none. */
  readonly allowRequests?: readonly AllowRule[] | undefined;
  /** false: without MCP servers. Undefined: with them, as in earlier releases. */
  readonly mcp?: boolean | undefined;
  readonly mcpServers?: readonly McpServer[] | undefined;
  readonly mcpPrograms?: readonly McpProgram[] | undefined;
  /** Earlier releases did not record them. */
  readonly services?: readonly Service[] | undefined;
  /** Ports of the agent that the user looks at: `PORT[:HOSTPORT]`. Earlier releases did not record them. */
  readonly ports?: readonly string[] | undefined;
  /** Services of the user's machine that the agent may use: `PORT[:NAME]`. Earlier releases did not record them. */
  readonly allowLocal?: readonly string[] | undefined;
  readonly credentials: 'broker' | 'file' | 'none';
  readonly freshCreds: boolean;
  /** Names with their values, resolved; values are masked in every print. */
  readonly env: Readonly<Record<string, string>>;
  /** Files of variables, absolute, whose values are part of `env`. Undefined in older records, as the next four. */
  readonly envFiles?: readonly string[] | undefined;
  /** Names of variables whose values are of these files: a later run reads the files again. */
  readonly envFileNames?: readonly string[] | undefined;
  /** Names of features, whose packages and variables are part of `environment`. */
  readonly with?: readonly string[] | undefined;
  /** Package managers that find archives of the project's lock files without the registry. */
  readonly caches?: readonly CacheName[] | undefined;
  /** Digests of requests of projects that the user agreed to beforehand. */
  readonly approved?: readonly string[] | undefined;
  /** Undefined: none. */
  readonly environment?: Environment | undefined;
  readonly allowGitPush: boolean;
  readonly permissions: 'skip' | 'ask';
  readonly engine: 'auto' | 'docker' | 'podman';
  /** Names of engines of the user's configuration, joined by commas, `slurm:PARTITION` or `k8s:CONTEXT`. Earlier releases did not record it. */
  readonly on?: string | undefined;
  readonly runtime: string | undefined;
  /** The agent of a session whose command line names none; undefined: Claude. */
  readonly agent: string | undefined;
  /** The engine's graphics processors are in the container. Undefined: they are not. */
  readonly gpu?: boolean | undefined;
  readonly image: string | undefined;
  readonly toolchain: boolean;
  /** `latest` or a version; undefined for the pinned release. */
  readonly claudeVersion: string | undefined;
  readonly rebuild: boolean;
  readonly isolateClaudeData: boolean;
  readonly syncBack: boolean;
  readonly profile: string | undefined;
  readonly verify: boolean;
  readonly report: string | undefined;
  readonly quiet: boolean;
  readonly trace: boolean;
  /** Extra audit rules and severities of the user's configuration; the audit room defines their meaning. */
  readonly auditRules: readonly UserRule[];
  readonly auditSeverities: Readonly<Record<string, Severity>>;
}

/** What passes with a host's requests in addition to the gateway's own lists. */
export interface PassedNames {
  /** Names in a query, or in a form that is the body. */
  readonly parameters?: readonly string[] | undefined;
  readonly headers?: readonly string[] | undefined;
  /** Of bodies that pass unread. */
  readonly contentTypes?: readonly string[] | undefined;
}

export interface BrokerRule extends PassedNames {
  readonly host: string;
  readonly header: string;
  /** A command line (argv) whose output is the value, run on the host. */
  readonly from: readonly string[];
  readonly methods: readonly string[];
  /** `GET /path/**`: only these requests pass, and `methods` does not count. */
  readonly requests?: readonly string[] | undefined;
}

/** A host of which only some requests pass. */
export interface AllowRule extends PassedNames {
  readonly host: string;
  /** `GET /path/**`. */
  readonly requests: readonly string[];
}

/** An MCP server that is reached over HTTP, and whose login stays on the host. */
export interface McpServer {
  /** As the agent sees it. */
  readonly name: string;
  readonly url: string;
  /** The header that has the login, and the command line whose output is its value. */
  readonly header?: string | undefined;
  readonly from?: readonly string[] | undefined;
  /** In place of both: the login of `mcp login`. */
  readonly oauth?: boolean | undefined;
  /** The tools that may be called. Undefined: all. */
  readonly tools?: readonly string[] | undefined;
}

/** An MCP server that is a program: it runs in its own container, with its secrets. */
export interface McpProgram {
  /** As the agent sees it. */
  readonly name: string;
  readonly command: readonly string[];
  /** A directory of this machine in which it is started, and which it can read. */
  readonly directory?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Variables, and the command lines whose output is their value. */
  readonly secrets: Readonly<Record<string, readonly string[]>>;
  /** The hosts that it can reach. */
  readonly hosts: readonly string[];
  /** The tools that may be called. Undefined: all. */
  readonly tools?: readonly string[] | undefined;
}

/** A server that the project's work needs, such as a database: it runs in its own container next to the agent. */
export interface Service {
  /** Also its host name inside. */
  readonly name: string;
  /** An image of the engine. */
  readonly image?: string | undefined;
  /** Debian packages, sorted, added to run-claude's own image. Without image and packages: the session's own image. */
  readonly packages: readonly string[];
  readonly command: readonly string[];
  /** Where it listens on its own loopback, and where the agent finds it on 127.0.0.1. */
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
  /** A shell's command that succeeds once it can be used. Undefined: when its port accepts a connection. */
  readonly ready?: string | undefined;
  /** How long the start waits for that. */
  readonly readyMs: number;
  /** The directory that it can write to, besides /tmp. */
  readonly data: string;
  /** A shell's command that fills the data once, for all sessions of the same tables. */
  readonly seed?: string | undefined;
  /** Files of the project that the seed reads, relative to its top, sorted. */
  readonly files: readonly string[];
  /** Names of the services that it reaches itself. */
  readonly reaches: readonly string[];
  readonly memoryMb: number;
  readonly diskMb: number;
}

export interface UserRule {
  readonly id: string;
  readonly paths: readonly string[];
  readonly severity: Severity;
  readonly why: string;
}
