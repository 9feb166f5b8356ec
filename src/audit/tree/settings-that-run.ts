import { nameOfPath, parentPath } from '../../core/text/path.ts';
import type { Change } from '../../core/types/entry.ts';
import { isWatchedPath } from '../files.ts';
import { ANY_RUN_WORD, RUN_WORD, wordsOfKey } from '../formats/key-words.ts';
import { formatOf, newLeaves, readStructure } from '../formats/structured.ts';
import { oneOf, pattern } from '../formats/words.ts';
import type { Found } from '../general-rules/rule.ts';
import type { Scene } from '../input.ts';
import { placed } from '../reach/names.ts';
import { SCRIPTS } from '../reach/program-endings.ts';

const STRUCTURED = /\.(json[c5]?|ya?ml|toml|ini|cfg|conf|xml|properties)$/i;
/** Data for tests, readers and translators. */
const DATA =
  /(^|\/)(tests?|__tests__|specs?|fixtures?|__fixtures__|testdata|test-data|examples?|samples?|snapshots|mocks?|locales?|i18n|translations?|lang|node_modules|vendor|third_party)\//i;
const LOCK = /(^|[./-])lock\.(json|ya?ml|toml)$|-lock\.\w+$/i;

/** Programs that run their arguments. */
const INTERPRETERS = oneOf`
  (?:ba|z|da|k|fi|tc)?sh env sudo xargs python[\d.]{0,4} node nodejs deno bun bunx tsx perl ruby php lua make npx npm pnpm
  yarn uvx? pipx? docker podman curl wget nc ncat socat ssh powershell pwsh osascript eval source cmd
`;
const COMMAND_LINE = pattern(
  'i',
)`^(?:(?:/usr)?/bin/)?(?:${INTERPRETERS})(?:\.exe)?[ \t]+[^ \t].{0,2000}$|^\.{1,2}/[\w./-]{1,200}[ \t]`;
const SHELL_KEY = /^(?:command|cmd|exec|executable|interpreter|program|entrypoint|runner)$/i;
const INTERPRETER = pattern('i')`^(?:(?:/usr)?/bin/)?(?:${INTERPRETERS})$`;
/** Under these words an address is loaded; elsewhere it is where data goes. */
const LOADED = /^(?:loader|loaders|plugin|plugins|module|modules|preload|script|scripts|executable|interpreter)$/i;
const ADDRESS = /^(?:git\+)?(?:https?|git|ssh):\/\/\S{4,300}$/;

/**
 * New values of a structured file that no rule knows, which are a program or a module of the tree, a command line, or an
 * address of what is loaded, under a key that says so.
 */
export function settingsThatRun(scene: Scene): readonly Found[] {
  const found: Found[] = [];
  for (const change of scene.input.changes) {
    if (!isAsked(change)) continue;
    scene.input.looksAt?.(change.path);
    const text = scene.text(change.after);
    if (text === undefined || !ANY_RUN_WORD.test(text)) continue;
    const format = /\.xml$/i.test(change.path) ? 'xml' : formatOf(change.path, text);
    const after = readStructure(text, format, change.path)?.leaves ?? [];
    const before = readStructure(scene.text(change.before) ?? '', format, change.path)?.leaves ?? [];
    const seen = newLeaves(before, after).find(({ key, value }) => runs(scene, change.path, key, value.trim()));
    if (seen !== undefined) found.push({ path: change.path, detail: `${seen.key}: ${seen.value.slice(0, 120)}` });
  }
  return found;
}

function isAsked({ path, ignored, problem, after }: Change): boolean {
  if (ignored === true || problem !== undefined || after?.kind !== 'file' || !STRUCTURED.test(path)) return false;
  return !DATA.test(path) && !LOCK.test(path) && !isWatchedPath(path);
}

function runs(scene: Scene, path: string, key: string, value: string): boolean {
  if (value === '' || value.length > 2000) return false;
  const words = wordsOfKey(key);
  if (!words.some((word) => RUN_WORD.test(word))) return false;
  if (COMMAND_LINE.test(value)) return true;
  if (INTERPRETER.test(value) && words.some((word) => SHELL_KEY.test(word))) return true;
  if (ADDRESS.test(value)) return words.some((word) => LOADED.test(word));
  return isProgramOfTree(scene, path, value);
}

const PATH = /^(?:\.{1,2}\/)*[\w@][\w@.-]{0,100}(?:\/[\w@.-]{1,100}){0,20}$/;
const MODULE = /^([A-Za-z_]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){1,12})(?::\w{1,80})?$/;

/** Whether a value is a path or a module of the tree that is a program. */
function isProgramOfTree(scene: Scene, path: string, value: string): boolean {
  const word = value.replace(/^(?:\$\{\w{1,40}\}|\$\w{1,40}|<rootDir>)\//, '').replace(/:\w{1,80}$/, '');
  const dotted = MODULE.exec(value)?.[1]?.replaceAll('.', '/');
  const names = [
    ...(PATH.test(word) && (word.includes('/') || SCRIPTS.test(word)) ? [word] : []),
    ...(dotted === undefined ? [] : [`${dotted}.py`, `${parentPath(dotted)}.py`, `${dotted}/__init__.py`]),
  ];
  const targets = names.flatMap((name) => [placed('', name), placed(parentPath(path), name)]);
  return targets.some((target) => target !== undefined && target !== '' && isProgram(scene, target));
}

function isProgram(scene: Scene, path: string): boolean {
  const entry = scene.after(path);
  if (entry === undefined) return false;
  if (SCRIPTS.test(path) || /\.(py|ts|tsx|jsx|wasm|so|dll|dylib|jar)$/i.test(path)) return true;
  if (entry === 'base') return scene.input.base?.executables?.has(path) ?? !nameOfPath(path).includes('.');
  return entry.kind === 'file' && ((entry.mode & 0o111) !== 0 || scene.text(entry)?.startsWith('#!') === true);
}
