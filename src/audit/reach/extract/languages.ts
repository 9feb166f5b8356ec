import { parentPath } from '../../../core/text/path.ts';
import { isApplication } from '../application.ts';
import { withoutFileTests } from '../data-arguments.ts';
import { namesOfDocument } from '../documents.ts';
import type { Name } from '../names.ts';
import { SCRIPTS } from '../program-endings.ts';
import { namesOfCommands } from './commands.ts';
import { namesOfGo } from './go.ts';
import { namesOfJavaScript } from './javascript.ts';
import { namesOfPython } from './python.ts';
import { namesOfRuby } from './ruby.ts';
import { namesOfRust } from './rust.ts';

/** A language of programs that are followed when another file names them. */
interface Language {
  readonly paths: RegExp;
  readonly namesOf: (path: string, text: string) => readonly Name[];
  /** Whether a program of the application is followed too: no part of an application is written in such a language. */
  readonly isOfBuilds?: boolean;
}

const namesOfShell = (path: string, text: string): Name[] =>
  namesOfCommands(withoutFileTests(withoutComments(text)), parentPath(path), { mentions: SCRIPTS });

/** As {@link namesOfShell}; a larger file was not written by hand. */
const namesOfPart = (path: string, text: string): Name[] =>
  text.length > MAX_PART_CHARS || /lock/i.test(path) ? [] : namesOfShell(path, text);
const MAX_PART_CHARS = 1 << 17;

const withoutComments = (text: string): string => text.replace(/^[ \t]{0,40}#(?!!)[^\n]*/gm, '');

const LANGUAGES: readonly Language[] = [
  { paths: /\.(ba|z|da|k|fi)?sh$/i, namesOf: namesOfShell, isOfBuilds: true },
  { paths: /\.([cm]?[jt]s|[jt]sx)$/i, namesOf: namesOfJavaScript },
  { paths: /\.py$|(^|\/)(SConstruct|wscript|SConscript)$/i, namesOf: namesOfPython },
  { paths: /\.(rb|rake|gemspec|task)$|(^|\/)(Gemfile|Rakefile)$/i, namesOf: namesOfRuby },
  { paths: /\.rs$/i, namesOf: namesOfRust, isOfBuilds: true },
  { paths: /\.go$/i, namesOf: namesOfGo },
  { paths: /\.(md|mdc|mdx|txt|rst)$/i, namesOf: namesOfDocument, isOfBuilds: true },
  // Parts of build files, and files of commands under names of every kind.
  {
    paths: /\.(mk|inc|cmake|gradle|just|ya?ml|xml|nix|zig|nim|jl|exs|pl|pm|php|lua|groovy|vim|el)$/i,
    namesOf: namesOfPart,
  },
];
const SHELL = LANGUAGES[0] as Language;

/** The language of a program; one without an ending is read as what its first line says, or as commands. */
export function languageOf(path: string, text?: string): Language | undefined {
  const byName = LANGUAGES.find(({ paths }) => paths.test(path));
  if (byName !== undefined || !/(^|\/)[^./]+$/.test(path)) return byName;
  const interpreter = /^#![^\n]{0,80}\b(node|bun|deno|tsx|python|ruby)/.exec(text ?? '')?.[1];
  const ending = { node: 'js', bun: 'js', deno: 'js', tsx: 'js', python: 'py', ruby: 'rb' }[interpreter ?? ''];
  return LANGUAGES.find(({ paths }) => paths.test(`x.${ending ?? 'sh'}`)) ?? SHELL;
}

/** Whether a program is followed when another file names it. */
export function isFollowed(path: string): boolean {
  const language = languageOf(path);
  return language !== undefined && (language.isOfBuilds === true || !isApplication(path));
}
