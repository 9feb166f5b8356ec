import { parentPath } from '../../../core/text/path.ts';
import { type Name, named, stringsOf, wordsOf } from '../names.ts';
import { namesOfStarted } from './commands.ts';

const REQUIRED =
  /\b(?:require_relative|require|load|eval_gemfile|import|import_from_file)[ (]{1,2}["']([\w./-]{1,200})["']/g;
const EVALUATED = /\b(?:eval|instance_eval|class_eval)\b[^\n]{0,60}\bread[ (]{1,2}([^\n]{1,200})/g;
const LIBRARY = /(?:\$LOAD_PATH|\$:)[^\n]{0,80}?["']([\w./-]{1,200})["']/g;
const GLOBBED = /\bDir(?:\.glob\s?\(|\[|\.children\s?\(|\.each_child\s?\()([^\n]{1,200})/g;
const LOADS = /\b(?:load|require|import|eval|instance_eval|system|sh|add_import|spawn|exec|do)\b/;
const STARTED = /(?:\b(?:sh|system|spawn|exec)[ (]|`)([^`\n]{1,300})/g;

/** The files and folders that a program of Ruby requires, loads or starts. */
export function namesOfRuby(path: string, text: string): Name[] {
  const dir = parentPath(path);
  const libraries = wordsOf(LIBRARY, text).map((word) => (dir === '' ? word : `${dir}/${word}`));
  const from = [...new Set(['', dir, ...libraries, ...(dir === '' ? ['lib'] : [`${dir}/lib`])])];
  const required = wordsOf(REQUIRED, text);
  const read = wordsOf(EVALUATED, text).flatMap((list) => stringsOf(list));
  // A list of files that are packed runs none of them.
  const globs = wordsOf(GLOBBED, text)
    .filter((line) => LOADS.test(line))
    .map((line) => stringsOf(line)[0] ?? '');
  const started = wordsOf(STARTED, text).map((list) => stringsOf(list).join(' ') || list);
  return [
    ...named('file', [...required, ...read], from),
    ...named('module', required, from),
    ...named(
      'glob',
      globs.filter((word) => word.includes('*')),
      from,
    ),
    ...namesOfStarted(started, dir),
  ];
}
