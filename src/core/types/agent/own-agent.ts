/** An agent of the user's configuration, `[agents.NAME]`: plain data, kept in the record of each session that ran it. */
export interface OwnAgent {
  readonly name: string;
  /** In messages. */
  readonly title: string;
  /** The words that start it inside; the first is found on the PATH there. */
  readonly program: readonly string[];
  /** A package of npm, a layer over the image. Undefined: the image has the program. */
  readonly package?: OwnPackage | undefined;
  /** Files and directories of the home that are copied, relative to it. */
  readonly copy: readonly string[];
  /** Its file with instructions, relative to the home. Undefined: it gets no note about the sandbox. */
  readonly instructions?: string | undefined;
  /** Its words that ask for one answer on stdout: a subcommand, or an option. */
  readonly print: readonly string[];
  /** The words that turn its permission questions off. */
  readonly skipPermissions: readonly string[];
  /** Variables inside. `{broker}` and `{placeholder}` stand for what is inside in place of the provider and the key. */
  readonly env: Readonly<Record<string, string>>;
  readonly provider?: OwnProvider | undefined;
}

export interface OwnPackage {
  /** `name@version`. */
  readonly name: string;
  /** SHA-512, as npm writes it. */
  readonly integrity: string;
  /** The program's file in it. */
  readonly entry: string;
}

/** The provider whose requests the gateway passes, with the key that stays on the host. */
export interface OwnProvider {
  /** Which requests there are. */
  readonly api: 'anthropic' | 'openai' | 'gemini';
  readonly url: string;
  /** The variable of the host that has the key. */
  readonly key: string;
  /** What is inside in place of the key. */
  readonly placeholder: string;
}
