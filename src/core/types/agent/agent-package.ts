/** Agents that a session can run: each has a file and a row in src/agents/. */
export type AgentName = (typeof AGENT_NAMES)[number];

/** The default one first. */
export const AGENT_NAMES = ['claude', 'codex', 'gemini', 'opencode', 'copilot'] as const;

/** An npm package by version and hash. */
export interface AgentPackageFile {
  readonly name: string;
  readonly version: string;
  /** SHA-512, as npm writes it. */
  readonly integrity: string;
}

/** The program of an agent that is not in every image: its package is its own layer. */
export interface AgentPackage {
  /** Its name in the PATH. */
  readonly program: string;
  /** By the engine's architecture; `all` for a package that runs on each. */
  readonly files: Readonly<Record<string, AgentPackageFile>>;
  /** The program's file in the unpacked package, by architecture or for all. */
  readonly entry: string | Readonly<Record<string, string>>;
}
