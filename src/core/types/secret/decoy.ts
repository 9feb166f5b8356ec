/** A value of a masked file: one that was made for the session in place of a secret, or the secret itself. */
export interface Decoy {
  /** The masked file, from the project; a path that begins with `~/` is in the agent's home. */
  readonly path: string;
  /** The key that has it; undefined where it is the whole file. */
  readonly name?: string;
  readonly value: string;
}

/** What a session's changes are searched for. */
export interface MaskedValues {
  /** What the agent could read. */
  readonly decoys: readonly Decoy[];
  /** What it could not: the values of the user's own files, read for this search and never stored. */
  readonly real: readonly Decoy[];
  /** Masked files whose changes never come back: they are not searched. */
  readonly paths: readonly string[];
}

/** A decoy that the gateway saw in a request of the agent. */
export interface SeenDecoy extends Pick<Decoy, 'path' | 'name'> {
  /** read: it passed to the agent's own provider. sent: it was kept from another host. */
  readonly as: 'read' | 'sent';
  /** ISO 8601. */
  readonly at: string;
  /** 'HOST:PORT'. */
  readonly to: string;
}
