import { isDotGitName, isPlainDotGit } from '../git/names.ts';
import type { Change } from '../types/entry.ts';
import type { Severity } from '../types/finding.ts';
import { looksLatin } from './formats/skeleton.ts';
import type { Hit, Scene } from './input.ts';

const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|:|$)/i;
const INVISIBLE =
  /[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e0fff}]|\u034f|\u17b4|\u17b5|\u180b|\u180c|\u180d/u;
const BLANK_ONLY = /^[\s\u00a0\u1680\u2000-\u200f\u2028\u2029\u202f\u205f\u2060\u3000\u3164\ufeff.]*$/u;
const LITTER = /(^\.([^/]*\.)?sw[a-p]$|~$|^#[^/]*#$|^\.#|\.(orig|rej)$)/;
const DUMP = /^core(\.\d+)?$/;
const LONGEST_NAME = 200;
const LONGEST_PATH = 1024;

/** One check of a path component. */
interface NameCheck {
  readonly rule: string;
  readonly severity: Severity;
  readonly title: string;
  readonly why: string;
  readonly test: (part: string) => boolean;
  /** Looks at a file's own name, not at folders. */
  readonly filesOnly?: boolean;
}

const CHECKS: readonly NameCheck[] = [
  {
    rule: 'name-control',
    severity: 'blocked',
    title: 'Name with control characters',
    why: 'It breaks lists of names and drives the terminal.',
    test: (part) => /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(part),
  },
  {
    rule: 'name-dotgit',
    severity: 'blocked',
    title: 'Name that is .git elsewhere',
    why: 'Git on macOS or Windows takes it for its own directory.',
    test: (part) => isDotGitName(part) && !isPlainDotGit(part),
  },
  {
    rule: 'name-collides',
    severity: 'blocked',
    title: 'Name that Windows reserves',
    why: 'It is a device there, or cannot be made or deleted.',
    test: (part) => RESERVED.test(part),
  },
  {
    rule: 'name-backslash',
    severity: 'blocked',
    title: 'Name with a backslash',
    why: 'On Windows it is a path, which may lead anywhere.',
    test: (part) => part.includes('\\'),
  },
  {
    rule: 'name-not-utf8',
    severity: 'suspect',
    title: 'Name that is not UTF-8',
    why: 'Tools show it in different ways or fail on it.',
    test: (part) => /[\udc80-\udcff]/.test(part.replace(/[\ud800-\udbff][\udc00-\udfff]/g, '')),
  },
  {
    rule: 'name-misleads',
    severity: 'suspect',
    title: 'Name that shows as another',
    why: 'Invisible or direction-changing characters hide what it is.',
    test: (part) => INVISIBLE.test(part) && !/^(?:[\p{Emoji}\w.-]|\u200d|\ufe0f)+$/u.test(part),
  },
  {
    rule: 'name-misleads',
    severity: 'suspect',
    title: 'Name with letters that look like others',
    why: 'It is read as a name that it is not.',
    test: (part) => /[^\u0000-\u007f]/.test(part) && passesForLatin(part),
  },
  {
    rule: 'name-misleads',
    severity: 'suspect',
    title: 'Name that looks empty or like a parent folder',
    why: 'Lists show nothing, or another name.',
    test: (part) => BLANK_ONLY.test(part) || /^[.\u2024\u2025\u2026\uff0e]+\s*$/u.test(part),
  },
  {
    rule: 'name-ends-odd',
    severity: 'suspect',
    title: 'Name that ends in a blank or dot',
    why: 'Windows drops the end, so it meets another name.',
    test: (part) => /[ .]$/.test(part) && !BLANK_ONLY.test(part),
  },
  {
    rule: 'name-windows-characters',
    severity: 'note',
    title: 'Name that Windows cannot have',
    why: 'It cannot be checked out there.',
    test: (part) => /[<>:"|?*]/.test(part),
  },
  {
    rule: 'name-option',
    severity: 'suspect',
    title: 'Name that reads as an option',
    why: 'A command given * takes it for one of its options.',
    test: (part) => /^[-+]/.test(part) || /^@(?!types$|[a-z][\w.-]*$)/i.test(part),
  },
  {
    rule: 'name-shell',
    severity: 'suspect',
    title: 'Name with shell syntax',
    why: 'A script that does not quote it runs it.',
    test: (part) => /\$\(|`|\$\{|;\s*\w|\|\s*\w|&&|\$[A-Z_]{3}|%[A-Z_]{3,}%/.test(part),
  },
  {
    rule: 'name-short-form',
    severity: 'note',
    title: 'Name like a short name of Windows',
    why: 'It may be the second name of another file there.',
    test: (part) => /^[^.]{1,8}~[0-9]{1,4}(\.[^.]{0,3})?$/.test(part) && !isDotGitName(part),
  },
  {
    rule: 'name-litter',
    severity: 'suspect',
    title: 'Left-over of an editor or tool',
    why: 'Recovering or sourcing it brings back other content than the file shows.',
    test: (part) => LITTER.test(part),
  },
  {
    rule: 'name-litter',
    severity: 'suspect',
    title: 'Left-over of an editor or tool',
    why: 'It looks like the memory of a program that crashed, with all that was in it.',
    test: (part) => DUMP.test(part),
    // Many projects have a folder of that name.
    filesOnly: true,
  },
  {
    rule: 'name-long',
    severity: 'note',
    title: 'Very long name',
    why: 'Some file systems cannot hold it.',
    test: (part) => part.length > LONGEST_NAME,
  },
];

/** A word of Latin letters with one of another script that passes for one; a letter in a form for display; a selector. */
function passesForLatin(part: string): boolean {
  if (/[\uff21-\uff3a\uff41-\uff5a\u{1d400}-\u{1d7ff}]/u.test(part)) return true;
  if (/(?<![\p{Extended_Pictographic}\d#*])[\ufe00-\ufe0f]/u.test(part)) return true;
  const words = part.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.some((word) => /[A-Za-z]/.test(word) && [...word].some((char) => char > '\u024f' && looksLatin(char)));
}

/** A name of the project's own kind, `-Name.kt` beside others: two and more tell a convention. */
const CONVENTIONAL = /(?:^|\/)([-+@])[A-Za-z_]\w*(\.\w{1,10})$/;
const conventions = new WeakMap<Scene, ReadonlyMap<string, number>>();

/** Whether the base has names of the same first character and ending in any folder, and nothing in it reads as a value. */
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

/** What the name of a new entry gives away. Entries that were there keep their names without a word. */
export function nameHits(scene: Scene, change: Change): Hit[] {
  if (change.before !== undefined || change.after === undefined) return [];
  const hits: Hit[] = [];
  const parts = change.path.split('/');
  for (const check of CHECKS) {
    const isFile = change.after.kind !== 'dir';
    const at = parts.findIndex(
      (one, index) => check.test(one) && (!check.filesOnly || (isFile && index === parts.length - 1)),
    );
    const part = parts[at];
    if (part === undefined) continue;
    if (check.rule === 'name-option' && at === parts.length - 1 && isConvention(scene, change.path)) continue;
    // A folder's own entry says it, where it has one (a commit's has none); its files need not repeat what only misleads.
    const folder = parts.slice(0, at + 1).join('/');
    if (at < parts.length - 1 && check.severity !== 'blocked' && scene.hasFolder(folder)) {
      if (!check.test(parts.at(-1) ?? '')) continue;
    }
    hits.push({
      rule: check.rule,
      severity: check.severity,
      path: change.path,
      title: check.title,
      why: check.why,
      detail: part,
    });
  }
  if (change.path.length > LONGEST_PATH || parts.length > 60)
    hits.push({
      rule: 'name-long',
      severity: 'note',
      path: change.path,
      title: 'Very long path',
      why: 'Some systems cannot open it.',
      detail: `${change.path.length} characters, ${parts.length} levels`,
    });
  return hits;
}
