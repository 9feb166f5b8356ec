/** What a session's container has besides the image and the project: `[environment]` of a configuration file. */
export interface Environment {
  /** Names of Debian packages. */
  readonly packages: readonly string[];
  /** A command of a shell, run once for the same inputs; undefined for none. */
  readonly setup: string | undefined;
  /** Variables of the setup and of the agent. Not secret. */
  readonly env: Readonly<Record<string, string>>;
  /** Files of the project that the setup reads, relative to its root. */
  readonly files: readonly string[];
}

/** What a setup made, in the record of a session that uses it. */
export interface MadeEnvironment {
  /** 32 hex digits that name the inputs: command, variables, files, image, user and network. */
  readonly address: string;
  /** Its directory on this machine, absolute. */
  readonly dir: string;
}
