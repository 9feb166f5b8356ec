/** A file of the project that holds a secret, and what its copy has in its place. */
export interface SecretFile {
  readonly path: string;
  /** 'environment file' */
  readonly reason: string;
  /**
   * masked: decoys. unmasked: the user wants it to be read. tracked: the secret, which git's objects hold too. by-content:
   * the secret; neither the name of the file nor an ignore rule says that it is kept from others.
   */
  readonly state: 'masked' | 'unmasked' | 'tracked' | 'by-content';
  /** Of a masked or tracked file: whether git's objects have its content. Undefined where that was not looked for. */
  readonly isInGit?: boolean | undefined;
}

/** The files of a project that hold secrets. */
export interface ProjectSecrets {
  readonly files: readonly SecretFile[];
  /** Ignored or new files that the limits of the search left out. */
  readonly unsearched: readonly string[];
}

/** A secret in a text: its place, and the name that it has there. */
export interface SecretValue {
  readonly name?: string;
  readonly value: string;
  readonly start: number;
  /** Behind the last character. */
  readonly end: number;
}
