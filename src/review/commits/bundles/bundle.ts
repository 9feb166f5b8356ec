import { refusedCommits as refused } from '../host-git.ts';

/** The checked header of a git bundle. */
export interface BundleHead {
  readonly objectFormat: 'sha1' | 'sha256';
  /** Branch name (without refs/heads/) → commit. */
  readonly branches: ReadonlyMap<string, string>;
  readonly prerequisites: readonly string[];
  /** Names of the refs that are not taken: other kinds than branches, and names that git or a command takes for others. */
  readonly refused: readonly string[];
  /** The commit that HEAD names, when the bundle has HEAD. */
  readonly head: string | undefined;
  /** Offset of the pack in bytes. */
  readonly packAt: number;
}

const MAX_REFS = 1_000;
const MAX_HEAD_BYTES = 1 << 20;
/** Characters of a name in an error. */
const MAX_SHOWN = 100;

/**
 * Parses a bundle's header without git: versions 2 and 3, no capability but the object format, branches only, with
 * names that `git check-ref-format` allows. Other refs are named, and do not keep the branches from being taken. Pure.
 *
 * @throws {RunClaudeError} COMMITS_REFUSED with the reason.
 */
export function parseBundleHead(bundle: Buffer): BundleHead {
  const end = bundle.subarray(0, MAX_HEAD_BYTES).indexOf('\n\n');
  if (end < 0) throw refused('it has no header of a bundle');
  const [first, ...lines] = bundle.subarray(0, end).toString('latin1').split('\n');
  if (first !== '# v2 git bundle' && first !== '# v3 git bundle')
    throw refused('it is not a bundle of a known version');
  let objectFormat: BundleHead['objectFormat'] = 'sha1';
  const branches = new Map<string, string>();
  const prerequisites: string[] = [];
  const left: string[] = [];
  let head: string | undefined;
  for (const line of lines) {
    const id = /^-?([0-9a-f]{40}|[0-9a-f]{64})(?: |$)/.exec(line)?.[1];
    if (line === '@object-format=sha1' || line === '@object-format=sha256') {
      objectFormat = line.endsWith('256') ? 'sha256' : 'sha1';
    } else if (line.startsWith('@')) throw refused('it asks for a capability that is not taken');
    else if (id === undefined) throw refused('its header is damaged');
    else if (line.startsWith('-')) prerequisites.push(id);
    else {
      const name = Buffer.from(line.slice(id.length + 1), 'latin1').toString('utf8');
      // Tags, notes, replacements and the stash are not taken.
      if (name === 'HEAD') {
        head = id;
        continue;
      }
      const branch = /^refs\/heads\/(.+)$/s.exec(name)?.[1];
      if (branch === undefined || !isBranchName(branch)) left.push(name);
      else branches.set(branch, id);
    }
    if (branches.size + prerequisites.length + left.length > MAX_REFS) throw refused('it names too many refs');
  }
  const [unusable] = left;
  if (unusable !== undefined && branches.size === 0 && head === undefined)
    throw refused(`it names only refs that are not taken, as ${JSON.stringify(unusable.slice(0, MAX_SHOWN))}`);
  return { objectFormat, branches, prerequisites, refused: left, head, packAt: end + 2 };
}

/** The rules of `git check-ref-format`; in addition no leading dash, control or space characters. */
export function isBranchName(name: string): boolean {
  if (name.length > 200 || name.startsWith('-') || name.endsWith('.') || name.includes('..') || name.includes('@{'))
    return false;
  if (/[\p{C}\p{Z}~^:?*[\\]/u.test(name)) return false;
  return name
    .split('/')
    .every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock') && part !== '@');
}
