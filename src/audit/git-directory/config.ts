import { type ConfigEntry, parseConfig } from '../../git/config-parse.ts';
import type { KeyClass } from '../../git/key-table.ts';
import { classOfKey, isHarmlessValue } from '../../git/keys.ts';
import type { Severity } from '../../types/finding.ts';

export interface ConfigHit {
  readonly severity: Severity;
  readonly class: KeyClass | 'unreadable' | 'escape';
  /** `key = value`, for the person to read. */
  readonly detail: string;
  readonly line: number;
  readonly why: string;
}

const WHY: Readonly<Record<KeyClass, string>> = {
  exec: 'Git runs a command or a program that this key names.',
  redirect: 'This key sends data elsewhere, or makes git load another configuration.',
  'load-file': 'Git reads or writes the file that this key names.',
  weaken: 'This key loosens a check or hides a change.',
  inert: 'Git honours this key only in the system and user configuration: here it does nothing.',
  harmless: '',
};

/** The value that a weakening key may always move to. */
const STRONGER = /^(true|yes|on|1|error|strict|refuse|ignore|sha256|fully|ultimate)$/i;

/**
 * What is new or has another value in a git configuration, key by key. Every occurrence counts: git uses the last, and
 * all of a multi-valued one. A file that git refuses is one finding of its own, the entries above the error as well.
 */
export function judgeGitConfig(before: string | undefined, after: string | undefined): ConfigHit[] {
  const old = parseConfig(before ?? '');
  const now = parseConfig(after ?? '');
  const had = new Map<string, number>();
  for (const entry of old.entries) had.set(idOf(entry), (had.get(idOf(entry)) ?? 0) + 1);
  const hits: ConfigHit[] = [];
  const remotes = new Set(old.entries.filter((entry) => entry.section === 'remote').map((entry) => entry.subsection));
  for (const entry of now.entries) {
    const left = had.get(idOf(entry)) ?? 0;
    if (left > 0) had.set(idOf(entry), left - 1);
    else hits.push(...judgeEntry(entry, remotes, old.entries));
  }
  if (now.error !== undefined) {
    const detail = `git refuses line ${now.error.line}: ${now.error.why}`;
    hits.push({
      severity: 'blocked',
      class: 'unreadable',
      detail,
      line: now.error.line,
      why: 'A configuration that does not parse cannot be judged.',
    });
  }
  return [...hits, ...removedGuards(old.entries, now.entries)];
}

const idOf = (entry: ConfigEntry): string => `${entry.key}\0${entry.value ?? '\u0001'}`;
const show = (entry: ConfigEntry): string =>
  (entry.value === undefined ? entry.key : `${entry.key} = ${entry.value}`).slice(0, 300);

function judgeEntry(
  entry: ConfigEntry,
  remotes: ReadonlySet<string | undefined>,
  old: readonly ConfigEntry[],
): ConfigHit[] {
  const keyClass = classOfKey(entry.key);
  const hit = (severity: Severity, shown: KeyClass, why = WHY[shown]): ConfigHit => ({
    severity,
    class: shown,
    detail: show(entry),
    line: entry.line,
    why,
  });
  if (/%x(1b|07|9b|0d|08)|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/i.test(entry.value ?? ''))
    return [
      { ...hit('blocked', keyClass), class: 'escape', why: 'The value puts control characters on the terminal.' },
    ];
  if (keyClass === 'harmless' || isHarmlessValue(entry)) return [];
  if (keyClass === 'exec') return [hit('blocked', 'exec')];
  if (keyClass === 'inert') return [hit('note', 'inert')];
  if (isOrdinary(entry, remotes)) return [];
  if (keyClass === 'redirect' || keyClass === 'load-file') return [hit('blocked', keyClass)];
  const was = old.findLast((one) => one.key === entry.key);
  if (STRONGER.test(entry.value ?? 'true') && !/ignore/i.test(entry.key) && !WEAKER_WHEN_TRUE.test(entry.key))
    return [];
  return [hit(was === undefined && HARMLESS_WHEN_NEW.test(entry.key) ? 'note' : 'suspect', 'weaken')];
}

const WEAKER_WHEN_TRUE =
  /allow|ignore|sparsecheckout|hide|renormalize|autoupdate|bare$|untracked|preferSymlink|showsignature/i;
const HARMLESS_WHEN_NEW =
  /^(user|author|committer)\.|^core\.(bare|filemode|logallrefupdates|repositoryformatversion|ignorecase|precomposeunicode|autocrlf|eol)$|^gc\.|^lfs\./i;

/** What git itself writes for a new local branch, an initialised repository or a submodule as it should be. */
function isOrdinary(entry: ConfigEntry, remotes: ReadonlySet<string | undefined>): boolean {
  const value = entry.value ?? '';
  const plain = `${entry.section}.${entry.name}`;
  if (plain === 'branch.remote') return value === '.' || value === 'origin' || remotes.has(value);
  if (plain === 'branch.merge') return /^refs\/heads\/[\w./-]+$/.test(value);
  if (plain === 'remote.fetch')
    return new RegExp(
      `^\\+?refs/(heads|tags)/[\\w./*-]+:refs/(remotes/${literally(entry.subsection ?? '')}|tags)/[\\w./*-]+$`,
    ).test(value);
  if (plain === 'core.worktree') return /^(\.\.\/)+[\w./-]+$/.test(value) && !value.endsWith('/..');
  if (plain === 'push.default') return /^(simple|current|upstream|nothing)$/.test(value);
  if (plain === 'extensions.objectformat') return /^sha(1|256)$/.test(value);
  return plain === 'rerere.enabled' || plain === 'push.followtags';
}

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const GUARD =
  /^(core\.hookspath|commit\.gpgsign|tag\.gpgsign|(transfer|fetch|receive)\.fsckobjects|core\.protect(hfs|ntfs)|merge\.verifysignatures|http\..*sslverify|credential\..*protectprotocol|safe\.)/;

function removedGuards(old: readonly ConfigEntry[], now: readonly ConfigEntry[]): ConfigHit[] {
  const kept = new Set(now.map((entry) => entry.key));
  const gone = old.filter((entry) => GUARD.test(entry.key) && !kept.has(entry.key));
  return gone.map((entry) => ({
    severity: 'suspect',
    class: 'weaken',
    detail: `${show(entry)} is gone`,
    line: entry.line,
    why: 'A key that protects you was removed.',
  }));
}
