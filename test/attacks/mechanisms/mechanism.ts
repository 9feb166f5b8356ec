/** Texts by path. One that begins with `#!` is executable. */
export type Texts = Readonly<Record<string, string>>;

/**
 * A way in which an ordinary command runs what a session left. The command runs in a container without the gate, first on
 * the project as it was, then with the files of the attack. The attack writes MARK; the project alone does not.
 */
export interface Mechanism {
  readonly name: string;
  /** The rule that reports it. */
  readonly rule: string;
  /** The project before the session. */
  readonly base: Texts;
  readonly attack: Texts;
  /** What the user types, in bash. */
  readonly command: string;
  /** What the user had set up before the session, in bash. */
  readonly prepare?: string;
  /** The file that is written, where the attack cannot name MARK. */
  readonly mark?: string;
}

/** The file that an attack writes. */
export const MARK = '/tmp/ran';
export const TOUCH = `touch ${MARK}`;
/** Statements that write MARK. */
export const NODE_TOUCH = `require('node:fs').writeFileSync('${MARK}', '');\n`;
export const MODULE_TOUCH = `import { writeFileSync } from 'node:fs';\nwriteFileSync('${MARK}', '');\n`;
export const PYTHON_TOUCH = `open('${MARK}', 'w').close()\n`;
export const RUBY_TOUCH = `File.write('${MARK}', '')\n`;
export const SHELL_TOUCH = `#!/bin/sh\n${TOUCH}\n`;
