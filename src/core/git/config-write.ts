import { type ConfigEntry, parseConfig } from './config-parse.ts';
import { classOfKey } from './keys.ts';

export interface RewrittenConfig {
  /** The text for the copy. */
  readonly text: string;
  /** The keys that were dropped or changed, by name and never by value. */
  readonly dropped: readonly string[];
}

/** Where a configuration is, for the keys whose meaning depends on it. */
export interface ConfigPlace {
  /**
   * Whether it is of a repository of which the copy has a linked work tree: core.bare and core.worktree are then about
   * the main work tree, and git reads neither in a linked one.
   */
  readonly isOfMainTree: boolean;
  /** The value that core.worktree has in the copy; undefined where it leads out of the copy. */
  workTree(value: string): string | undefined;
}

const ANYWHERE: ConfigPlace = { isOfMainTree: false, workTree: () => undefined };

type Written = Pick<ConfigEntry, 'section' | 'subsection' | 'name' | 'value'>;

/**
 * Keys of other classes than harmless that the copy needs to be the same repository. Values that run are not among them.
 * Nor is extensions.relativeworktrees: git before 2.48 refuses the repository for it, and a copy has no such paths.
 */
const KEPT = new Set(
  `core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode
   core.symlinks core.autocrlf core.eol core.safecrlf core.quotepath core.protecthfs core.protectntfs
   core.sparsecheckout core.sparsecheckoutcone core.untrackedcache extensions.objectformat extensions.refstorage
   extensions.worktreeconfig extensions.compatobjectformat user.name user.email author.name author.email
   committer.name committer.email push.default checkout.defaultremote remote.pushdefault
   status.showuntrackedfiles diff.ignoresubmodules submodule.active submodule.recurse`.split(/\s+/),
);
const KEPT_IN_SUBSECTION = new Set(
  `branch.remote branch.merge branch.pushremote remote.url remote.pushurl remote.fetch remote.push remote.tagopt
   remote.mirror submodule.url submodule.active submodule.branch submodule.ignore`.split(/\s+/),
);

/**
 * A repository's configuration as the copy may have it: harmless keys and those that make it the same repository,
 * without user names and tokens in URLs, extra headers, includes, credential helpers, filters and everything else
 * that executes or redirects. A file that git would refuse gives an almost empty one, named as a whole.
 */
export function rewriteConfig(text: string, place: ConfigPlace = ANYWHERE): RewrittenConfig {
  const { entries, error } = parseConfig(text);
  const dropped: string[] = [];
  const kept: Written[] = [];
  for (const entry of entries) {
    if (entry.section === 'filter' && entry.subsection === 'lfs') {
      // The image has git-lfs without the network for every repository.
      dropped.push('filter.lfs.* (without the network in the copy)');
    } else if (entry.key === 'core.bare' && place.isOfMainTree) {
      kept.push({ ...entry, value: 'false' });
    } else if (entry.key === 'core.worktree') {
      const value = place.isOfMainTree ? undefined : place.workTree(entry.value ?? '');
      if (value !== undefined) kept.push({ ...entry, value });
      else if (!place.isOfMainTree) dropped.push(entry.key);
    } else if (!mayCarry(entry)) {
      dropped.push(nameOf(entry));
    } else {
      const value = entry.value === undefined ? undefined : withoutUser(entry.value);
      if (value !== entry.value) dropped.push(`user and token in ${nameOf(entry)}`);
      kept.push({ ...entry, value });
    }
  }
  if (error !== undefined) dropped.push(`everything from line ${error.line} on: ${error.why}`);
  return { text: writeConfig(kept), dropped: [...new Set(dropped)] };
}

function mayCarry(entry: ConfigEntry): boolean {
  if (entry.value !== undefined && /^\s*[a-z0-9.+-]*::/i.test(entry.value)) return false;
  const plain = `${entry.section}.${entry.name}`;
  if (entry.subsection === undefined ? KEPT.has(plain) : KEPT_IN_SUBSECTION.has(plain)) return true;
  return classOfKey(entry.key) === 'harmless';
}

/** A key for a message: a URL in its subsection may hold a token too. */
function nameOf(entry: ConfigEntry): string {
  if (entry.subsection === undefined) return entry.key;
  return `${entry.section}.${withoutUser(entry.subsection)}.${entry.name}`;
}

/**
 * A URL without the user and password before its host, and without its query. An ssh user name stays: it is not a
 * secret.
 */
function withoutUser(value: string): string {
  const match = /^([a-z][a-z0-9+.-]{0,30}:\/\/)([^/?#]*)([^?#]*)/i.exec(value);
  if (match === null) return value;
  const [whole, scheme = '', authority = '', path = ''] = match;
  const at = authority.lastIndexOf('@');
  const user = at < 0 ? '' : authority.slice(0, at);
  const bare = /^(git\+)?ssh(\+git)?:/i.test(scheme) && !user.includes(':');
  const host = at < 0 || bare ? authority : authority.slice(at + 1);
  const rest = value.slice(whole.length);
  return scheme + host + path + (rest.startsWith('?') ? '' : rest);
}

/**
 * Configuration text that git reads back as exactly these entries.
 * @throws {TypeError} when the format cannot express a value: a NUL, or a line break in a subsection.
 */
export function writeConfig(entries: readonly Written[]): string {
  let text = '';
  let header = '';
  for (const entry of entries) {
    const wanted = headerOf(entry.section, entry.subsection);
    if (wanted !== header) text += `${wanted}\n`;
    header = wanted;
    text += entry.value === undefined ? `\t${entry.name}\n` : `\t${entry.name} = ${quote(entry.value)}\n`;
  }
  return text;
}

function headerOf(section: string, subsection: string | undefined): string {
  if (subsection === undefined) return `[${section}]`;
  if (/[\n\0]/.test(subsection)) throw new TypeError('a subsection cannot hold a line break or NUL');
  return `[${section} "${subsection.replace(/["\\]/g, '\\$&')}"]`;
}

function quote(value: string): string {
  if (value.includes('\0')) throw new TypeError('a value cannot hold NUL');
  if (/^[A-Za-z0-9_.,:/@%^*+=-]+$/.test(value)) return value;
  const escaped = value
    .replace(/["\\]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replaceAll('\b', '\\b');
  return `"${escaped}"`;
}
