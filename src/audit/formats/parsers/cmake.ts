import { MAX_LEAVES, MAX_STRUCTURED_CHARS, OverBudget } from '../budget.ts';

/** A command of CMake: its name in lower case, and its arguments without quotes and brackets. */
export interface CmakeCommand {
  readonly name: string;
  readonly args: readonly string[];
}

/** What opens a text that ends with as many equal signs between two brackets. */
const BRACKET = /#?\[(=*)\[/y;
const TOKEN =
  /[ \t\r\n;]+|#[^\n]*|"((?:[^"\\]|\\[\s\S])*)"|[()]|(?:[^\s()#"\\;]|\\[\s\S])(?:[^\s()#"\\;]|\\[\s\S]|"(?:[^"\\\n]|\\.)*")*/y;

/**
 * The commands of a text, as CMake's own lexer separates them. Undefined for what CMake refuses.
 *
 * @throws {OverBudget}
 */
export function commandsOfCmake(text: string): readonly CmakeCommand[] | undefined {
  const out: CmakeCommand[] = [];
  let open: { readonly name: string; readonly args: string[]; depth: number } | undefined;
  let name: string | undefined;
  let count = 0;
  if (text.length > MAX_STRUCTURED_CHARS) throw new OverBudget();
  let at = 0;
  while (at < text.length) {
    const token = tokenAt(text, at);
    count += 1;
    if (token === undefined) return undefined;
    if (count > 4 * MAX_LEAVES) throw new OverBudget();
    const { whole, value } = token;
    at += whole.length;
    if (/^[ \t\r\n;#]/.test(whole)) continue;
    if (open === undefined) {
      if (name === undefined && /^[A-Za-z_]\w*$/.test(whole)) name = whole.toLowerCase();
      else if (name !== undefined && whole === '(') {
        open = { name, args: [], depth: 1 };
        name = undefined;
      } else return undefined;
    } else if (whole === ')' && open.depth === 1) {
      out.push({ name: open.name, args: open.args });
      open = undefined;
    } else {
      if (whole === '(') open.depth += 1;
      if (whole === ')') open.depth -= 1;
      open.args.push(value.replace(/\\([^A-Za-z0-9;])/g, '$1'));
    }
  }
  return open === undefined && name === undefined ? out : undefined;
}

function tokenAt(text: string, at: number): { readonly whole: string; readonly value: string } | undefined {
  BRACKET.lastIndex = at;
  const [opening, equals] = BRACKET.exec(text) ?? [];
  if (opening !== undefined) {
    const end = text.indexOf(`]${equals}]`, at + opening.length);
    const whole = text.slice(at, end + opening.length - (opening.startsWith('#') ? 1 : 0));
    return end < 0 ? undefined : { whole, value: text.slice(at + opening.length, end) };
  }
  TOKEN.lastIndex = at;
  const [whole, quoted] = TOKEN.exec(text) ?? [];
  return whole === undefined ? undefined : { whole, value: quoted ?? whole };
}

/** What a change makes CMake do otherwise. */
export interface NewCmakeCommands {
  /** New and altered commands. A long one has its first argument and the new ones. */
  readonly added: readonly CmakeCommand[];
  /** Every command of the new text. */
  readonly all: readonly CmakeCommand[];
  /** The names of the commands of the old text. */
  readonly called: ReadonlySet<string>;
}

/** The reason why the new text cannot be read, or what is new in it. Where the old text cannot be read, all is new. */
export function newCmakeCommands(
  before: string | undefined,
  after: string,
): NewCmakeCommands | 'does not parse' | 'too much to judge' {
  try {
    const now = commandsOfCmake(after);
    const old = (before === undefined ? [] : commandsOfCmake(before)) ?? [];
    if (now === undefined) return 'does not parse';
    const had = new Map<string, number>();
    const args = new Map<string, Set<string>>();
    for (const one of old) {
      had.set(idOf(one), (had.get(idOf(one)) ?? 0) + 1);
      const known = args.get(firstOf(one)) ?? new Set();
      args.set(firstOf(one), known);
      for (const arg of one.args) known.add(arg);
    }
    const added = now.flatMap((one) => {
      const left = had.get(idOf(one)) ?? 0;
      if (left > 0) {
        had.set(idOf(one), left - 1);
        return [];
      }
      const known = args.get(firstOf(one));
      const fresh = one.args.filter((arg) => known?.has(arg) !== true);
      // A short command says what it sets; in another order the same words say something else.
      const isWhole = one.args.length <= SHORT_ARGS || fresh.length === 0 || BY_POSITION.test(one.name);
      return [{ name: one.name, args: isWhole ? one.args : [one.args[0] ?? '', ...fresh] }];
    });
    return { added, all: now, called: new Set(old.map(({ name }) => name)) };
  } catch (error) {
    if (error instanceof OverBudget) return 'too much to judge';
    throw error;
  }
}

const SHORT_ARGS = 6;
/** Commands in which the place of an argument decides what it means. */
const BY_POSITION = /^(list|string|file|math|foreach|find_path|get_\w+)$/;
const idOf = ({ name, args }: CmakeCommand): string => [name, ...args].join('\0');
const firstOf = ({ name, args }: CmakeCommand): string => `${name}\0${args[0] ?? ''}`;
