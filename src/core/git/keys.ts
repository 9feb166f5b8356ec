import { asBoolean, type ConfigEntry, splitKey } from './config-parse.ts';
import { KEY_CLASSES, KEY_TABLE, type KeyClass, OTHER_TOOLS_HARMLESS } from './key-table.ts';

interface Pattern {
  readonly middle: RegExp | undefined;
  readonly name: RegExp;
  /** `section.*`: with and without a subsection. */
  readonly open: boolean;
  readonly class: KeyClass;
  /** The number of literal parts: the most specific pattern decides. */
  readonly score: number;
}

const patternsBySection = buildPatterns();

function buildPatterns(): ReadonlyMap<string, readonly Pattern[]> {
  const map = new Map<string, Pattern[]>();
  const add = (text: string, keyClass: KeyClass): void => {
    const parts = splitKey(text);
    const list = map.get(parts.section) ?? [];
    const { subsection: middle, name } = parts;
    const literal = (part: string | undefined): number => (part === undefined ? 1 : part.includes('<') ? 0 : 3);
    list.push({
      middle: middle === undefined ? undefined : toRegex(middle),
      name: toRegex(name),
      open: name === '*' && middle === undefined,
      class: keyClass,
      score: literal(middle) + (name === '*' ? -4 : literal(name)),
    });
    map.set(parts.section, list);
  };
  for (const keyClass of KEY_CLASSES) for (const text of words(KEY_TABLE[keyClass])) add(text, keyClass);
  for (const text of words(OTHER_TOOLS_HARMLESS)) add(text, 'harmless');
  return map;
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

function toRegex(part: string): RegExp {
  if (part === '*') return /^/;
  const escaped = part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/<[^>]*>/g, '[^]+');
  return new RegExp(`^${escaped}$`, 'i');
}

/**
 * What a key can do, by the table: the pattern with most literal parts decides, the more dangerous of two equals.
 * A key or section that the table does not know counts as redirect.
 */
export function classOfKey(key: string): KeyClass {
  const { section, subsection, name } = splitKey(key);
  let best: Pattern | undefined;
  for (const pattern of patternsBySection.get(section.toLowerCase()) ?? []) {
    if (!pattern.name.test(name)) continue;
    if (!pattern.open) {
      if (subsection === undefined ? pattern.middle !== undefined : !pattern.middle?.test(subsection)) continue;
    }
    if (best === undefined || pattern.score > best.score) best = pattern;
  }
  return best?.class ?? 'redirect';
}

/** The table's patterns of one class, for the guard's generated header. */
export function keyPatterns(keyClass: KeyClass): readonly string[] {
  return words(KEY_TABLE[keyClass]);
}

const PAGERS = /^(less|more|most|cat|delta|bat)( -{1,2}[A-Za-z][A-Za-z-]*)*$/;
const OWN_TOOLS = new Set(
  `araxis bc bc3 bc4 codecompare deltawalker diffmerge diffuse ecmerge emerge examdiff guiffy gvimdiff kdiff3 kompare
   meld nvimdiff opendiff p4merge smerge tkdiff tortoisemerge vimdiff vscode winmerge xxdiff`.split(/\s+/),
);
/** Options by which a git command that an alias abbreviates would run something or write somewhere. */
const RISKY_OPTIONS = String.raw`
  -c\S* -C\S* -x\S* -O\S* --?exec\S* --exec-path\S* --config-env\S* --upload-pack\S* --receive-pack\S*
  --ext-diff --textconv --open-files-in-pager\S* --output\S* --git-dir\S* --work-tree\S* --template\S*
  --extcmd\S* --tool\S* --editor\S* --paginate -p
`;
const ALIAS_RISK = new RegExp(String.raw`(^|\s)(${words(RISKY_OPTIONS).join('|')})(?=\s|=|$)`);
const ALIAS_WORD = /^[a-z][a-z0-9-]*(\s+([A-Za-z0-9@{}^~%:,./_=+#*-]|'[^'`$\\]*'|"[^"`$\\]*")+)*$/;
const ALIAS_COMMANDS_THAT_RUN =
  /^(bisect|submodule|filter-branch|difftool|mergetool|rebase|hook|config|p4|svn|send-email)\b/;

/**
 * Whether this value of a dangerous key is harmless: a boolean for core.fsmonitor and pager.*, a bare
 * pager, an alias that only abbreviates, one of git's own tool names, a plain way for a submodule's update.
 */
export function isHarmlessValue(entry: Pick<ConfigEntry, 'key' | 'value'>): boolean {
  const { section, subsection, name } = splitKey(entry.key);
  const value = entry.value ?? '';
  const plain = `${section}.${name}`;
  if (plain === 'core.fsmonitor' || (section === 'pager' && asBoolean(entry.value) !== undefined))
    return asBoolean(entry.value) !== undefined;
  if (plain === 'core.pager') return PAGERS.test(value);
  if (section === 'alias')
    return ALIAS_WORD.test(value) && !ALIAS_RISK.test(value) && !ALIAS_COMMANDS_THAT_RUN.test(value);
  if (subsection === undefined && /^(diff|merge)\.(gui)?tool$/.test(plain)) return OWN_TOOLS.has(value);
  if (plain === 'submodule.update') return /^(checkout|rebase|merge|none)$/.test(value);
  if (plain === 'help.autocorrect') return /^(0|never|show|prompt|false|off|no)$/.test(value);
  if (plain === 'man.viewer' || plain === 'help.browser') return /^(man|woman|konqueror)$/.test(value);
  // Even a word with a dot names a program: git-credential-<word> in PATH.
  if (plain === 'credential.helper') return value === '';
  if (plain === 'sendemail.smtpserver') return value === '' || /^[a-z0-9.-]+\.[a-z]{2,}$/i.test(value);
  return section === 'sendemail' && subsection !== undefined && !/cmd$|server$|path$|pass$|key$|file$/.test(name);
}
