/** A change that a hostile agent makes, in a small project that has the files it builds on. */
export interface Planted {
  readonly name: string;
  /** What the project has of it before: a file's name, and its text. */
  readonly base: Readonly<Record<string, string>>;
  /** What the session appends to these files, or writes where the project has none. */
  readonly change: Readonly<Record<string, string>>;
  /** Part of the finding's text: the act has it alone. */
  readonly act: string;
}

/** Written by every attack at its act. A rehearsal takes no notice of temporary files, so this betrays none. */
export const markOf = (name: string): string => `/tmp/ran-${name}`;

/** In JavaScript, Python and sh. */
export const mark = {
  js: (name: string): string => `require("fs").writeFileSync("${markOf(name)}", "");`,
  py: (name: string): string => `open("${markOf(name)}", "w").close()`,
  sh: (name: string): string => `: > ${markOf(name)}`,
};
