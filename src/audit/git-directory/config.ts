import { type ConfigEntry, parseConfig } from '../../core/git/config-parse.ts';
import type { KeyClass } from '../../core/git/key-table.ts';
import { classOfKey, isHarmlessValue } from '../../core/git/keys.ts';
import type { Found } from '../general-rules/rule.ts';

/** One key of a git configuration that counts: the detail is `key = value`, for the user to read. */
type ConfigFound = Found & { readonly rule: string; readonly detail: string; readonly line: number };

const RULES: Readonly<Record<Exclude<KeyClass, 'harmless'>, string>> = {
  exec: 'git-config-exec',
  redirect: 'git-config-redirect',
  'load-file': 'git-config-load-file',
  weaken: 'git-config-weaken',
  inert: 'git-config-inert',
};

/** Values that never weaken a check. */
const STRONGER = /^(true|yes|on|1|error|strict|refuse|ignore|sha256|fully|ultimate)$/i;

/**
 * The keys of a git configuration that are new or have another value. Every occurrence counts: git uses the last one, or
 * all of a multi-valued key. A file that git refuses is a finding, in addition to those for the entries above the error.
 * `before`: undefined for the configuration of a new repository, which names where it was cloned from.
 */
export function judgeGitConfig(before: string | undefined, after: string | undefined): ConfigFound[] {
  const old = parseConfig(before ?? '');
  const now = parseConfig(after ?? '');
  const had = new Map<string, number>();
  for (const entry of old.entries) had.set(idOf(entry), (had.get(idOf(entry)) ?? 0) + 1);
  const hits: ConfigFound[] = [];
  const remotes = new Set(old.entries.filter((entry) => entry.section === 'remote').map((entry) => entry.subsection));
  for (const entry of now.entries) {
    const left = had.get(idOf(entry)) ?? 0;
    if (left > 0) had.set(idOf(entry), left - 1);
    else if (before !== undefined || !isOfClone(entry))
      for (const hit of judgeEntry(entry, remotes, old.entries)) hits.push(hit);
  }
  if (now.error !== undefined) {
    const detail = `git refuses line ${now.error.line}: ${now.error.why}`;
    hits.push({ rule: 'git-config-unreadable', detail, line: now.error.line });
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
): ConfigFound[] {
  const keyClass = classOfKey(entry.key);
  const place = { detail: show(entry), line: entry.line };
  if (/%x(1b|07|9b|0d|08)|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/i.test(entry.value ?? ''))
    return [{ rule: 'git-config-escape', ...place }];
  if (keyClass === 'harmless' || isHarmlessValue(entry)) return [];
  const rule = RULES[keyClass];
  if (keyClass === 'exec' || keyClass === 'inert') return [{ rule, ...place }];
  if (isOrdinary(entry, remotes)) return [];
  if (keyClass !== 'weaken') return [{ rule, ...place }];
  if (STRONGER.test(entry.value ?? 'true') && !/ignore/i.test(entry.key) && !WEAKER_WHEN_TRUE.test(entry.key))
    return [];
  const isNew = old.every((one) => one.key !== entry.key);
  if (isNew && isDefault(entry)) return [];
  return [{ rule, severity: isNew && HARMLESS_WHEN_NEW.test(entry.key) ? 'note' : 'suspect', ...place }];
}

/** What `git init` writes, and git assumes without it. */
function isDefault({ key, value }: ConfigEntry): boolean {
  return (key === 'core.repositoryformatversion' && value === '0') || (key === 'core.bare' && value === 'false');
}

/** What `git clone` writes of the place that it copied. A URL with `::` names a program. */
function isOfClone({ section, name, value = '' }: ConfigEntry): boolean {
  return section === 'remote' && name === 'url' && !value.includes('::') && !value.startsWith('-');
}

const WEAKER_WHEN_TRUE =
  /allow|ignore|sparsecheckout|submodule\.recurse|recursesubmodules|submodulesummary|hide|renormalize|autoupdate|bare$|untracked|preferSymlink|showsignature/i;
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
  if (plain === 'credential.username' || plain === 'imap.folder') return /^[\w.@ +-]{1,100}$/.test(value);
  if (plain === 'sideband.allowcontrolcharacters') return /^(false|no|off|0|color)$/i.test(value);
  return plain === 'rerere.enabled';
}

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const GUARD =
  /^(core\.hookspath|commit\.gpgsign|tag\.gpgsign|(transfer|fetch|receive)\.fsckobjects|core\.protect(hfs|ntfs)|merge\.verifysignatures|http\..*sslverify|credential\..*protectprotocol|safe\.)/;

function removedGuards(old: readonly ConfigEntry[], now: readonly ConfigEntry[]): ConfigFound[] {
  const kept = new Set(now.map((entry) => entry.key));
  const removed = old.filter((entry) => GUARD.test(entry.key) && !kept.has(entry.key));
  return removed.map((entry) => ({
    rule: 'git-config-weaken',
    case: 'removed',
    detail: `${show(entry)} was removed`,
    line: entry.line,
  }));
}
