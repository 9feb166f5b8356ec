import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Where settings of other programs are, as these programs find them. */
export interface SettingsPlaces {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Where the programs that run-claude starts on this machine have settings that name programs: git, ssh, gpg, gh, docker, npm, the pager
 * and common editors. Files of the home directory, and directories, of which every link counts.
 */
const OF_HOME: readonly string[] =
  `.gitconfig .gitattributes .npmrc .ssh .gnupg .docker .lesskey .less .lessfilter .vimrc .vim
  .gvimrc .exrc .viminfo .nanorc .emacs .emacs.el .emacs.d .selected_editor`.split(/\s+/);
const OF_CONFIG: readonly string[] = 'git gh npm lesskey vim nvim nano emacs helix micro mimeapps.list'.split(' ');
/** gh's extensions, plugins of editors, and what opens an address in a browser. */
const OF_DATA: readonly string[] = 'gh nvim applications'.split(' ');
/** Variables that name such a file or directory in place of the usual one. */
const NAMED_BY: readonly string[] = `GNUPGHOME GH_CONFIG_DIR DOCKER_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM
  NPM_CONFIG_USERCONFIG npm_config_userconfig`.split(/\s+/);

/** Levels of a directory of settings whose entries count. Plugins of editors are one level deeper than their packages. */
const MAX_DEPTH = 4;
/** Of one directory of settings. */
const MAX_ENTRIES = 20_000;
const MAX_FILE_BYTES = 1 << 20;
const MAX_INCLUDED = 100;

/**
 * The settings of other programs that `isInside` holds for: a file, a directory, a link in it, or a file that the
 * settings of ssh include. Undefined where there is none.
 */
export function settingsInside(places: SettingsPlaces, isInside: (file: string) => boolean): string | undefined {
  const { home, env } = places;
  const config = absolute(env['XDG_CONFIG_HOME']) ?? path.join(home, '.config');
  const data = absolute(env['XDG_DATA_HOME']) ?? path.join(home, '.local/share');
  const roots = [
    ...OF_HOME.map((name) => path.join(home, name)),
    ...OF_CONFIG.map((name) => path.join(config, name)),
    ...OF_DATA.map((name) => path.join(data, name)),
    ...NAMED_BY.flatMap((name) => absolute(env[name]) ?? []),
  ];
  // A file that does not exist counts: the agent could make it.
  const named = roots.find(isInside);
  if (named !== undefined) return named;
  let left = 0;
  const linkIn = (dir: string, depth: number): string | undefined => {
    for (const entry of entriesOf(dir)) {
      left -= 1;
      const file = path.join(dir, entry.name);
      if (left < 0) return undefined;
      if (entry.isSymbolicLink() && isInside(file)) return file;
      const inner = entry.isDirectory() && depth < MAX_DEPTH ? linkIn(file, depth + 1) : undefined;
      if (inner !== undefined) return inner;
    }
    return undefined;
  };
  for (const root of roots) {
    left = MAX_ENTRIES;
    const found = linkIn(root, 1);
    if (found !== undefined) return found;
  }
  return includedBySsh(path.join(home, '.ssh/config'), home).find(isInside);
}

/** The files that ssh's settings include (ssh_config(5), Include), and what these include. */
function includedBySsh(file: string, home: string): readonly string[] {
  const found = new Set<string>();
  const pending = [file];
  for (let at = pending.pop(); at !== undefined && found.size < MAX_INCLUDED; at = pending.pop())
    for (const line of linesOf(at)) {
      const [, words = ''] = /^\s*include(?:\s*=\s*|\s+)(.*)$/i.exec(line) ?? [];
      for (const word of words.match(/"[^"]*"|\S+/g) ?? [])
        for (const one of matching(sshPath(word.replace(/^"|"$/g, ''), home))) {
          if (found.has(one)) continue;
          found.add(one);
          pending.push(one);
        }
    }
  return [...found];
}

function sshPath(word: string, home: string): string {
  const expanded = word
    .replace(/^~(?=\/|$)/, home)
    .replace(/\$\{HOME\}|%d/g, home)
    .replace(/%%/g, '%');
  return path.isAbsolute(expanded) ? expanded : path.join(home, '.ssh', expanded);
}

/** The files that a pattern of paths means, and the folder in which it begins to be one: new files there match later. */
function matching(pattern: string): readonly string[] {
  let found = ['/'];
  for (const part of pattern.split('/').filter((one) => one !== '')) {
    if (!/[*?[]/.test(part)) found = found.map((dir) => path.join(dir, part));
    else {
      // A set of characters is taken for any one: more files than ssh reads, and no expression that cannot be read.
      const wild = part.replace(/\[[^\]]*\]/g, '?').replace(/[.+^${}()|\\[\]]/g, '\\$&');
      const rule = new RegExp(`^${wild.replace(/\*+/g, '.*').replace(/\?/g, '.')}$`);
      const inner = found.flatMap((dir) => {
        const names = entriesOf(dir).map(({ name }) => name);
        return names.filter((name) => rule.test(name)).map((name) => path.join(dir, name));
      });
      found = [...found, ...inner].slice(0, MAX_INCLUDED);
    }
  }
  return found;
}

function linesOf(file: string): readonly string[] {
  try {
    const text = readFileSync(file);
    return text.length > MAX_FILE_BYTES ? [] : text.toString('utf8').split('\n');
  } catch {
    return [];
  }
}

function entriesOf(dir: string): readonly Dirent[] {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch {
    return [];
  }
}

const absolute = (value: string | undefined): string | undefined =>
  value !== undefined && path.isAbsolute(value) ? value : undefined;
