import { parentPath } from '../../../core/text/path.ts';
import { type Name, named, stringsOf, wordsOf } from '../names.ts';
import { namesOfCommands, namesOfStarted } from './commands.ts';

const GENERATE = /^\/\/go:generate[ \t]([^\n]{1,500})/gm;
const IMPORT_ONE = /^import[ \t]+(?:[\w.]{1,60}[ \t]+)?"([^"\n]{1,200})"/gm;
const IMPORT_LIST = /^import[ \t]*\(([^)]{1,4000})\)/gm;
const STARTED = /\bexec\.Command(?:Context)?\(([^\n]{1,300})/g;

/** What the directives of a source file of Go run. */
export function namesOfGoDirectives(path: string, text: string): Name[] {
  const commands = wordsOf(GENERATE, text);
  return commands.length === 0
    ? []
    : namesOfCommands(commands.join('\n'), parentPath(path), { mentions: STARTED_FILE });
}

const STARTED_FILE = /\.(sh|bash|py|pl|rb|go)$/i;

/** The packages that a program of Go imports, and the programs that it starts. */
export function namesOfGo(path: string, text: string): Name[] {
  const imports = [...wordsOf(IMPORT_ONE, text), ...wordsOf(IMPORT_LIST, text).flatMap(stringsOf)];
  const started = wordsOf(STARTED, text).map((list) => stringsOf(list).join(' '));
  return [
    ...named(
      'package',
      imports.filter((one) => one.includes('/')),
    ),
    ...namesOfGoDirectives(path, text),
    ...namesOfStarted(started, parentPath(path)),
  ];
}

/** A module of Go, and the folder of its go.mod. */
export interface GoModule {
  readonly name: string;
  readonly dir: string;
}

/** The module of a go.mod, and the tools of it that `go tool` compiles and runs. */
export function readGoModule(
  path: string,
  text: string,
): { readonly module: GoModule | undefined; readonly names: Name[] } {
  const name = /^module[ \t]+"?([\w./~-]{1,200})/m.exec(text)?.[1];
  const tools = [...text.matchAll(/^tool[ \t]+([\w./~-]{1,200})/gm)].map((match) => match[1] as string);
  const list = /^tool[ \t]*\(([^)]{1,4000})\)/m.exec(text)?.[1]?.split(/\s+/) ?? [];
  return {
    module: name === undefined ? undefined : { name, dir: parentPath(path) },
    names: named(
      'package',
      [...tools, ...list].filter((one) => one.includes('/')),
    ),
  };
}
