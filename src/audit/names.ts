import { isDotGitName, isPlainDotGit } from '../core/git/names.ts';
import { encodeBytes } from '../core/text/path.ts';
import type { Change } from '../core/types/entry.ts';
import { looksLatin } from './formats/skeleton.ts';
import { type Hit, hitOf, textOf } from './hit.ts';
import type { Scene } from './input.ts';

const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|:|$)/i;
const INVISIBLE =
  /[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e0fff}]|\u034f|\u17b4|\u17b5|\u180b|\u180c|\u180d/u;
/** An emoji of several parts: only between pictures does the joiner show. */
const JOINED_EMOJI = /\p{Extended_Pictographic}(?:[\ufe0f\u{1f3fb}-\u{1f3ff}]?\u200d\p{Extended_Pictographic})+/gu;
const BLANK_ONLY = /^[\s\u00a0\u1680\u2000-\u200f\u2028\u2029\u202f\u205f\u2060\u3000\u3164\ufeff.]*$/u;
const LITTER = /(^\._|^\.([^/]*\.)?sw[a-p]$|~$|^#[^/]*#$|^\.#|\.(orig|rej)$)/;
const DUMP = /^core(\.\d+)?$/;
const LONGEST_NAME = 200;
const LONGEST_PATH = 1024;

const SHORT_FORM = /^[^.]{1,8}~[0-9]{1,4}(\.[^.]{0,3})?$/;
/** Short names of Windows for .gitmodules, .gitattributes, .gitignore and .mailmap, as git itself refuses them. */
const GIT_SHORT_FORM =
  /^(git(mod|att|ign)|mailma)~[1-9]\d{0,2}$|^(gi7e(ba|bb|7d|b4)|gi250a|gi7d29|ma30)[0-9a-f]{0,4}~\d{1,6}$/i;

/** One check of a path component. */
interface NameCheck {
  readonly text: ReturnType<typeof textOf>;
  readonly test: (part: string) => boolean;
  /** Applies to the last component of a file's path, not to folders. */
  readonly filesOnly?: boolean;
}

const CHECKS: readonly NameCheck[] = [
  { text: textOf('name-control'), test: (part) => /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(part) },
  { text: textOf('name-dotgit'), test: (part) => isDotGitName(part) && !isPlainDotGit(part) },
  { text: textOf('name-collides', 'reserved'), test: (part) => RESERVED.test(part) },
  { text: textOf('name-backslash'), test: (part) => part.includes('\\') },
  {
    text: textOf('name-not-utf8'),
    test: (part) => /[\udc80-\udcff]/.test(part.replace(/[\ud800-\udbff][\udc00-\udfff]/g, '')),
  },
  {
    text: textOf('name-misleads'),
    test: (part) => INVISIBLE.test(part.replace(JOINED_EMOJI, '')),
  },
  {
    text: textOf('name-misleads', 'lookalike'),
    test: (part) => /[^\u0000-\u007f]/.test(part) && passesForLatin(part),
  },
  {
    text: textOf('name-misleads', 'blank'),
    test: (part) => BLANK_ONLY.test(part) || /^[.\u2024\u2025\u2026\uff0e]+\s*$/u.test(part),
  },
  { text: textOf('name-ends-odd'), test: (part) => /[ .]$/.test(part) && !BLANK_ONLY.test(part) },
  { text: textOf('name-windows-characters'), test: (part) => /[<>:"|?*]/.test(part) },
  {
    text: textOf('name-option'),
    test: (part) => /^[-+]/.test(part) || /^@(?!types$|[a-z][\w.-]*$)/i.test(part),
  },
  {
    text: textOf('name-shell'),
    test: (part) => /\$\(|`|\$\{|;\s*\w|\|\s*\w|&&|[a-z0-9]&[a-z0-9]|\$[A-Z_]{3}|%[A-Z_]{3,}%/.test(part),
  },
  // perl opens such a name as a pipe or for writing, a shell redirects.
  { text: textOf('name-shell', 'opened'), test: (part) => /^\s*[<>|]|\|\s*$/.test(part) },
  { text: textOf('name-shell', 'format'), test: (part) => /%(?:[ns](?![A-Za-z0-9])|s|\(\w{1,40}\)[a-z])/.test(part) },
  { text: textOf('name-shell', 'variable'), test: (part) => /^\$\w+$/.test(part), filesOnly: true },
  { text: textOf('name-whiteout'), test: (part) => /^\.(wh\.|fuse_hidden|nfs[0-9a-f]{4,}$)/i.test(part) },
  { text: textOf('name-short-form', 'git'), test: (part) => GIT_SHORT_FORM.test(part) },
  {
    text: textOf('name-short-form'),
    test: (part) => SHORT_FORM.test(part) && !isDotGitName(part) && !GIT_SHORT_FORM.test(part),
  },
  { text: textOf('name-litter'), test: (part) => LITTER.test(part) },
  // Many projects have a folder of that name.
  { text: textOf('name-litter', 'core-dump'), test: (part) => DUMP.test(part), filesOnly: true },
  { text: textOf('name-long'), test: (part) => part.length > LONGEST_NAME },
];

/** Whether a name has a word with a look-alike of another script, a letter in a display form, or a selector. */
function passesForLatin(part: string): boolean {
  if (/[\uff21-\uff3a\uff41-\uff5a\u{1d400}-\u{1d7ff}]/u.test(part)) return true;
  if (/(?<![\p{Extended_Pictographic}\d#*])[\ufe00-\ufe0f]/u.test(part)) return true;
  const words = part.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.some((word) => /[A-Za-z]/.test(word) && [...word].some((char) => char > '\u024f' && looksLatin(char)));
}

/** A name such as `-Name.kt`: two and more in the base are a convention of the project. */
const CONVENTIONAL = /(?:^|\/)([-+@])[A-Za-z_]\w*(\.\w{1,10})$/;
const conventions = new WeakMap<Scene, ReadonlyMap<string, number>>();

/** Whether the base has names with the same first character and extension, and the name cannot be an option's value. */
function isConvention(scene: Scene, path: string): boolean {
  const keyOf = (one: string): string | undefined => {
    const match = CONVENTIONAL.exec(one);
    return match === null ? undefined : `${match[1]}${match[2]}`;
  };
  const own = keyOf(path);
  if (own === undefined) return false;
  let counts = conventions.get(scene);
  if (counts === undefined) {
    const made = new Map<string, number>();
    for (const one of scene.input.base?.paths ?? []) {
      const key = keyOf(one);
      if (key !== undefined) made.set(key, (made.get(key) ?? 0) + 1);
    }
    conventions.set(scene, made);
    counts = made;
  }
  return (counts.get(own) ?? 0) >= 2;
}

/** Findings for the name of a new entry. */
export function nameHits(scene: Scene, change: Change): Hit[] {
  if (change.before !== undefined || change.after === undefined) return [];
  const parts = change.path.split('/');
  const isFile = change.after.kind !== 'dir';
  const firstAt = new Map<NameCheck, number>();
  for (const [index, part] of parts.entries())
    for (const check of checksOf(scene, part)) {
      const counts = !check.filesOnly || (isFile && index === parts.length - 1);
      if (counts && !firstAt.has(check)) firstAt.set(check, index);
    }
  const hits = firstAt.size === 0 ? [] : checkHits(scene, change, parts, firstAt);
  const bytes = encodeBytes(change.path).length;
  if (bytes > (scene.input.maxPathBytes ?? Number.POSITIVE_INFINITY))
    hits.push(hitOf('name-too-long', change.path, { detail: `${bytes} bytes, ${parts.length} levels` }));
  if (change.path.length > LONGEST_PATH || parts.length > 60)
    hits.push(hitOf('name-long', change.path, { detail: `${change.path.length} characters, ${parts.length} levels` }));
  return hits;
}

/** The names of folders are those of many files: each name is checked once. */
const checked = new WeakMap<Scene, Map<string, readonly NameCheck[]>>();

function checksOf(scene: Scene, part: string): readonly NameCheck[] {
  const known = checked.get(scene) ?? new Map<string, readonly NameCheck[]>();
  checked.set(scene, known);
  let found = known.get(part);
  if (found === undefined) {
    found = CHECKS.filter((check) => check.test(part));
    known.set(part, found);
  }
  return found;
}

/** The hits of the checks that a component fails. `firstAt`: the first such component, by its number. */
function checkHits(
  scene: Scene,
  change: Change,
  parts: readonly string[],
  firstAt: ReadonlyMap<NameCheck, number>,
): Hit[] {
  const hits: Hit[] = [];
  for (const check of CHECKS) {
    const at = firstAt.get(check);
    const part = at === undefined ? undefined : parts[at];
    if (at === undefined || part === undefined) continue;
    if (check.text.rule === 'name-option' && at === parts.length - 1 && isConvention(scene, change.path)) continue;
    // The folder's own entry is reported, if it has one (in a commit it has none); its files need not repeat the finding.
    const folder = parts.slice(0, at + 1).join('/');
    if (at < parts.length - 1 && check.text.severity !== 'blocked' && scene.hasFolder(folder)) {
      if (!check.test(parts.at(-1) ?? '')) continue;
    }
    hits.push({ ...check.text, path: change.path, detail: part });
  }
  return hits;
}
