/** A command of the user's own that a rehearsal tries: `[[scene]]`. */
export interface SceneCommand {
  /** As it is printed. */
  readonly name: string;
  /** For a shell in the project's folder. */
  readonly command: string;
  /** It is tried where the project has one of these; empty: in every project. */
  readonly files: readonly string[];
  /** Programs that it needs. */
  readonly tools: readonly string[];
  readonly timeoutMs: number;
}
