import { parentPath } from '../../../core/text/path.ts';
import { type Name, named, placed, stringsOf, wordsOf } from '../names.ts';
import { namesOfStarted } from './commands.ts';

const INCLUDED = /\binclude\s*!\s*[([{]\s*"([^"\n]{1,200})"/g;
const PLACED = /#\s*\[\s*path\s*=\s*"([^"\n]{1,200})"\s*\]/g;
const MODULE = /^[ \t]*(?:pub(?:\([^)\n]{1,40}\))?[ \t]+)?mod[ \t]+(\w{1,100})[ \t]*;/gm;
const STARTED = /\bCommand::new\s?\(([^\n]{1,300})/g;

/** The parts of a build script of Rust: other files of its module, files that it includes, and programs that it starts. */
export function namesOfRust(path: string, text: string): Name[] {
  const dir = parentPath(path);
  const parts = [...wordsOf(INCLUDED, text), ...wordsOf(PLACED, text), ...wordsOf(MODULE, text)];
  const beside = parts.map((word) => placed(dir, word) ?? word);
  const all = [...beside, ...beside.map((one) => `${one}/mod`)];
  const started = wordsOf(STARTED, text).map((list) => stringsOf(list).join(' '));
  return [...named('file', all), ...named('module', all), ...namesOfStarted(started, dir)];
}
