/** A command that the user's machine runs anyway, or that the user runs after a yes. */
export interface Scene {
  /** As a reader sees it: 'git status'. */
  readonly name: string;
  /** For a shell in the project's folder. Default: the name. */
  readonly command?: string;
  /** The project has one of these; empty: every project. */
  readonly files: readonly string[];
  /** Programs that it needs. */
  readonly tools: readonly string[];
  readonly limitMs: number;
  /** Programs that the command starts for new files of a project: of tests, of build steps. */
  readonly ordinary?: RegExp;
}

export const SHORT_MS = 20_000;
export const LONG_MS = 60_000;

/** Scenes that differ in their name, files and tools. */
export function scenes(
  shared: Pick<Scene, 'limitMs' | 'ordinary'>,
  rows: readonly (readonly [name: string, files: string, tools: string, command?: string])[],
): readonly Scene[] {
  const words = (text: string): readonly string[] => text.split(' ').filter((word) => word !== '');
  return rows.map(([name, files, tools, command]) => ({
    ...shared,
    name,
    files: words(files),
    tools: words(tools),
    ...(command === undefined ? {} : { command }),
  }));
}
