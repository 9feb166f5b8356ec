/**
 * Writes the same attack in another way. A mutator changes how a file is spelled or where it is, never what its tool
 * makes of it, so whatever finds one spelling must find the other.
 */
export interface Mutator {
  readonly name: string;
  /** The same content in other words; undefined where the mutator does not apply. `path` is lower case. */
  readonly text?: (text: string, path: string) => string | undefined;
  /** What the other file held before it had this content, where the original is new. */
  readonly empty?: string;
  /** Another name under which the same tool reads the file; undefined where there is none. */
  readonly path?: (path: string) => string | undefined;
}

/** The last component. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The text between two line ends, each line rewritten. */
export const eachLine = (text: string, rewrite: (line: string) => string): string =>
  text.split('\n').map(rewrite).join('\n');

/** The path of another file in the same folder. */
export const beside =
  (name: string) =>
  (path: string): string =>
    path.slice(0, path.length - nameOf(path).length) + name;
