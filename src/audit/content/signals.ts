import type { Change } from '../../types/entry.ts';
import type { Severity } from '../../types/finding.ts';
import { lazy } from '../formats/lazy.ts';
import type { Line } from '../formats/lines.ts';
import { mayHoldSecret, secretIn, secretsByOthers } from '../formats/secrets.ts';
import { looksLatin } from '../formats/skeleton.ts';
import { anyOf, oneOf, pattern } from '../formats/words.ts';
import { type Hit, LONGEST_TEXT, type Scene } from '../input.ts';
import { binaryHits, isText } from './binary.ts';
import { heredocLines, isProse } from './heredocs.ts';
import { LINE_SIGNALS } from './line-signals/all.ts';
import type { LineSignal } from './line-signals/signal.ts';

const CODE_EXTENSIONS = oneOf`
  js cjs mjs jsx ts cts mts tsx vue svelte py pyw rb php pl pm lua sh bash zsh fish ps1 bat cmd c h cc cpp hpp
  cs java kt kts scala go rs swift m r jl ex exs erl hs ml clj dart groovy gradle sql tf mk cmake
`;

/** A signal shows this many lines of one file, and says how many there are. */
const SHOWN = 1;
const WINDOW = 4000;

/** Files that people read, in whatever language. */
export const PROSE =
  /\.(md|mdx|markdown|rst|txt|adoc|html?|po|pot|xlf|arb|strings|srt|vtt|tex)$|(^|\/)(locales?|i18n|translations?|lang)\//i;
/** Source by its ending or name. */
export const CODE = anyOf(
  pattern('i')`\.(${CODE_EXTENSIONS})$`,
  /(^|\/)(makefile|dockerfile|gemfile|rakefile|justfile)$/i,
);

type Say = (rule: string, severity: Severity, title: string, why: string, detail?: string, line?: number) => void;

/** What the new content of a file gives away, whatever its name. Only what is new counts. */
export function signalHits(scene: Scene, change: Change): Hit[] {
  const bytes = scene.bytes(change.after);
  if (!Buffer.isBuffer(bytes) || bytes.length === 0 || change.before?.digest === change.after?.digest) return [];
  const from = change.before === undefined ? scene.movedFrom(change) : undefined;
  if (from !== undefined && looksAlike(from, change.path)) return [];
  const old = scene.bytes(change.before);
  const before = Buffer.isBuffer(old) ? old : undefined;
  const hits: Hit[] = [];
  const say: Say = (rule, severity, title, why, detail, line) =>
    void hits.push({
      rule,
      severity,
      path: change.path,
      title,
      why,
      ...(detail === undefined ? {} : { detail }),
      ...(line === undefined ? {} : { line }),
    });
  const size = change.after?.size ?? bytes.length;
  binaryHits(change.path, before, bytes, size, say);
  if (!isText(bytes)) {
    if (before !== undefined && isText(before) && CODE.test(change.path))
      say(
        'text-nul',
        'suspect',
        'Text became binary',
        'Diffs no longer show it; shells and interpreters still run it.',
      );
    return hits;
  }
  if (bytes.length > LONGEST_TEXT) {
    say(
      'text-long',
      'suspect',
      'Text too long to look through',
      'Nobody can review it, and neither was it looked through.',
      `${size} bytes`,
    );
    return hits;
  }
  const text = scene.text(change.after) ?? '';
  const oldText = scene.text(change.before);
  if (
    /[\udc80-\udcff]/.test(text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, '')) &&
    (oldText === undefined
      ? CODE.test(change.path)
      : !/[\udc80-\udcff]/.test(oldText.replace(/[\ud800-\udbff][\udc00-\udfff]/g, '')))
  )
    say(
      'text-not-utf8',
      'suspect',
      'Invalid UTF-8 in a text file',
      'Editors, reviewers and interpreters read different things.',
    );
  if (/^\ufeff/.test(text) !== /^\ufeff/.test(oldText ?? '') && oldText !== undefined)
    say('text-bom', 'note', 'Byte order mark changed', 'Interpreters and shebangs read the first line in another way.');
  const lines = scene.added(change);
  characters(change.path, text, oldText, lines, say);
  lineSignals(change.path, lines, say);
  longLine(change.path, lines, text, oldText, say);
  return hits;
}

/** Whether the same bytes are looked at in the same way under both names: then the move brings nothing new. */
function looksAlike(from: string, to: string): boolean {
  const ending = (path: string): string => /[^/.]*$/.exec(path)?.[0].toLowerCase() ?? '';
  const isSeen = (path: string, { paths, except }: LineSignal): boolean => paths.test(path) && !except?.test(path);
  return (
    ending(from) === ending(to) &&
    PROSE.test(from) === PROSE.test(to) &&
    CODE.test(from) === CODE.test(to) &&
    LINE_SIGNALS.every((signal) => isSeen(from, signal) === isSeen(to, signal))
  );
}

const BIDI = /[\u202a-\u202e\u2066-\u2069]/;
const MARKS = /[\u200e\u200f\u061c]/;
const INVISIBLE =
  /[\u200b\u2060-\u2064\u00ad\u180e\u115f\u1160\u3164\uffa0]|\u034f|(?<=[\w.])(?:\u200c|\u200d|\ufeff)(?=[\w.])/u;
const TAGS = /[\u{e0000}-\u{e007f}]/u;
const SELECTORS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2}|[\w\s'"`([]\s?[\ufe00-\ufe0e\u{e0100}-\u{e01ef}]/u;
const ESCAPES = /[\u0000-\u0007\u0008\u000e-\u001a\u001b-\u001f\u007f\u0080-\u0084\u0086-\u009f]/;
const ODD_BREAKS = /\r(?!\n|$)|[\u0085\u2028\u2029\u000b]/;

/** Characters that show one thing and mean another. ASCII lines, nearly all, cost one test. */
function characters(path: string, text: string, old: string | undefined, lines: readonly Line[], say: Say): void {
  const prose = PROSE.test(path);
  const first = (regex: RegExp): Line | undefined => lines.find((line) => regex.test(line.text.slice(0, WINDOW * 4)));
  const control = first(ESCAPES);
  if (control !== undefined && !(old !== undefined && ESCAPES.test(old)))
    say(
      'text-escapes',
      'suspect',
      'Terminal control characters',
      'Printing the file drives the terminal, or hides a part of it.',
      undefined,
      control.line,
    );
  if (
    /[\r\u0085\u2028\u2029\u000b]/.test(text) &&
    ODD_BREAKS.test(text) &&
    !(old !== undefined && ODD_BREAKS.test(old)) &&
    !prose
  )
    say('text-breaks', 'suspect', 'Odd line breaks', 'Some tools see a new line where others see a comment going on.');
  const rich = lines.filter((line) => /[^\u0000-\u007f]/.test(line.text));
  if (rich.length === 0) return;
  const found = (regex: RegExp): Line | undefined => rich.find((line) => regex.test(line.text.slice(0, WINDOW * 4)));
  const bidi = found(BIDI);
  if (bidi !== undefined) {
    const harmless = prose && !/[\u202d\u202e]/.test(bidi.text) && balanced(text);
    say(
      'text-bidi',
      harmless ? 'note' : 'suspect',
      'Text that changes direction',
      'What you read is not the order in which it is run.',
      undefined,
      bidi.line,
    );
  }
  const marks = found(MARKS);
  if (marks !== undefined && !/[\u0590-\u08ff]/.test(marks.text))
    say(
      'text-invisible',
      'suspect',
      'Invisible characters',
      'Names, keys and URLs are not what they look like.',
      characterName(MARKS, marks.text),
      marks.line,
    );
  const invisible = found(INVISIBLE);
  if (invisible !== undefined && !/[\u0600-\u06ff\u0900-\u0dff]/.test(invisible.text))
    say(
      'text-invisible',
      prose && /\u00ad/.test(invisible.text) ? 'note' : 'suspect',
      'Invisible characters',
      'Names, keys and URLs are not what they look like.',
      characterName(INVISIBLE, invisible.text),
      invisible.line,
    );
  const tags = rich.find((line) => TAGS.test(line.text.replace(/\u{1f3f4}[\u{e0020}-\u{e007e}]{1,8}\u{e007f}/gu, '')));
  if (tags !== undefined)
    say(
      'text-tags',
      'suspect',
      'Invisible tag characters',
      'A model reads them, a person sees nothing.',
      undefined,
      tags.line,
    );
  const selectors = rich.find((line) =>
    SELECTORS.test(
      line.text
        .replace(/\p{Extended_Pictographic}\ufe0f?(\u200d\p{Extended_Pictographic}\ufe0f?)*|[\d#*]\ufe0f\u20e3/gu, '')
        .slice(0, WINDOW * 4),
    ),
  );
  if (selectors !== undefined)
    say(
      'text-selectors',
      'suspect',
      'Variation selectors as a carrier',
      'They hold bytes that nobody sees.',
      undefined,
      selectors.line,
    );
  if (!CODE.test(path) && !/\.(json|ya?ml|toml|ini|cfg|xml)$/i.test(path)) return;
  for (const line of rich) {
    const token = mixedToken(line.text.slice(0, WINDOW));
    if (token === undefined) continue;
    say(
      'text-homoglyph',
      'suspect',
      'Identifier with look-alike letters',
      'It is another name than the one it looks like.',
      token,
      line.line,
    );
    break;
  }
}

const CHARACTER_NAMES: Readonly<Record<string, string>> = {
  '\u00ad': 'soft hyphen',
  '\u034f': 'combining grapheme joiner',
  '\u061c': 'Arabic letter mark',
  '\u115f': 'Hangul filler',
  '\u1160': 'Hangul filler',
  '\u180e': 'Mongolian vowel separator',
  '\u200b': 'zero width space',
  '\u200c': 'zero width non-joiner',
  '\u200d': 'zero width joiner',
  '\u200e': 'left-to-right mark',
  '\u200f': 'right-to-left mark',
  '\u2060': 'word joiner',
  '\u3164': 'Hangul filler',
  '\ufeff': 'zero width no-break space',
  '\uffa0': 'Hangul filler',
};

/** The first character of a line that an expression matches, as code point and name. */
function characterName(regex: RegExp, line: string): string {
  const [char = ''] = regex.exec(line.slice(0, WINDOW * 4)) ?? [];
  const point = `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  const name = CHARACTER_NAMES[char];
  return name === undefined ? point : `${point}, ${name}`;
}

function balanced(text: string): boolean {
  const count = (regex: RegExp): number => text.match(regex)?.length ?? 0;
  return count(/[\u2066-\u2068]/g) === count(/\u2069/g) && count(/[\u202a\u202b]/g) === count(/\u202c/g);
}

/** A word of Latin letters with a look-alike of another script in it, or one that is another word in NFKC. */
function mixedToken(text: string): string | undefined {
  for (const [token] of text.matchAll(/[\p{L}_$][\p{L}\p{N}\p{Mn}_$]{0,200}/gu)) {
    if (!/[^\u0000-\u024f]/.test(token)) continue;
    const odd = [...token].filter((char) => char > '\u024f' && looksLatin(char));
    if (odd.length > 0 && /[A-Za-z]/.test(token)) return token;
    if (/[\uff21-\uff5a\u{1d400}-\u{1d7ff}\u2100-\u214f]/u.test(token) && token.normalize('NFKC') !== token)
      return token;
  }
  return undefined;
}

/** Each signal with its expression for many lines at once: it sees whatever the one for a line sees, or more. */
const signalsInText = lazy(() =>
  LINE_SIGNALS.map((signal) => ({ signal, anywhere: new RegExp(signal.regex.source, `${signal.regex.flags}m`) })),
);

function lineSignals(path: string, lines: readonly Line[], say: Say): void {
  const texts = lines.map(({ text }) =>
    text.length > 2 * WINDOW ? `${text.slice(0, WINDOW)} ${text.slice(-WINDOW)}` : text,
  );
  // One look over all lines says which signals are worth a look line by line: nearly always none.
  const all = texts.join('\n');
  const fits = signalsInText()
    .filter(
      ({ signal, anywhere }) => signal.paths.test(path) && !(signal.except?.test(path) ?? false) && anywhere.test(all),
    )
    .map(({ signal }) => signal);
  const secrets = mayHoldSecret(all);
  const byOthers = secretsByOthers(texts, path);
  const found = new Map<string, { count: number; line: Line }>();
  for (const [at, line] of fits.length === 0 && !secrets && byOthers.size === 0 ? [] : lines.entries()) {
    const text = texts[at] ?? '';
    for (const signal of fits) {
      if (!signal.regex.test(text) || (signal.safe?.test(text) ?? false)) continue;
      const one = found.get(signal.id);
      if (one === undefined) found.set(signal.id, { count: 1, line });
      else one.count += 1;
    }
    const secret = (secrets ? secretIn(text, path) : undefined) ?? byOthers.get(at);
    if (secret !== undefined)
      say(
        'secret',
        'suspect',
        'Secret written into a file',
        'Whoever gets the file, a commit or a package has it.',
        secret,
        line.line,
      );
  }
  for (const signal of fits) {
    const one = found.get(signal.id);
    if (one === undefined) continue;
    const more = one.count - SHOWN;
    const rest = more > 0 ? `, and ${more} more ${more === 1 ? 'line' : 'lines'}` : '';
    say(signal.id, signal.severity, signal.title, signal.why, one.line.text.slice(0, 120) + rest, one.line.line);
  }
}

function longLine(path: string, lines: readonly Line[], text: string, old: string | undefined, say: Say): void {
  if (!CODE.test(path)) return;
  const long = lines.filter((line) => line.text.length > 500);
  if (long.length === 0) return;
  const texts = /\.rb$/i.test(path) ? heredocLines(text) : new Set<number>();
  const longest = long.reduce(
    (most, line) => (texts.has(line.line) && isProse(line.text) ? most : Math.max(most, line.text.length)),
    0,
  );
  const was = old === undefined ? 0 : Math.max(0, ...old.split('\n', 5000).map((line) => line.length));
  if (
    longest > 500 &&
    was < 300 &&
    !/(^|\/)(dist|build|vendor|third_party|node_modules|generated|min)\/|\.min\.|\.lock$/i.test(path)
  )
    say(
      'text-long-line',
      old === undefined ? 'note' : 'suspect',
      'Very long line',
      'Reviewers see its beginning only.',
      `${longest} characters`,
    );
}
