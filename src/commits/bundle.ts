import { refusedCommits as refused } from './host-git.ts';

/** What a git bundle says of itself, checked. */
export interface BundleHead {
  readonly objectFormat: 'sha1' | 'sha256';
  /** Branch name (without refs/heads/) → commit. */
  readonly branches: ReadonlyMap<string, string>;
  readonly prerequisites: readonly string[];
  /** What HEAD names, when the bundle says so. */
  readonly head: string | undefined;
  /** Where the pack begins. */
  readonly packAt: number;
}

const MOST_REFS = 1_000;
const MOST_HEAD_BYTES = 1 << 20;

/**
 * Reads a bundle's header ourselves: versions 2 and 3 without any capability but the object format, branches only,
 * names as `git check-ref-format` has them. Throws RunClaudeError COMMITS_REFUSED with the reason. Pure.
 */
export function parseBundleHead(bundle: Buffer): BundleHead {
  const end = bundle.subarray(0, MOST_HEAD_BYTES).indexOf('\n\n');
  if (end < 0) throw refused('it has no header of a bundle');
  const [first, ...lines] = bundle.subarray(0, end).toString('latin1').split('\n');
  if (first !== '# v2 git bundle' && first !== '# v3 git bundle') throw refused('it is no bundle of a known version');
  let objectFormat: BundleHead['objectFormat'] = 'sha1';
  const branches = new Map<string, string>();
  const prerequisites: string[] = [];
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
      if (branch === undefined || !isBranchName(branch)) throw refused('it names a ref that is not taken');
      branches.set(branch, id);
    }
    if (branches.size + prerequisites.length > MOST_REFS) throw refused('it names too many refs');
  }
  return { objectFormat, branches, prerequisites, head, packAt: end + 2 };
}

/** The rules of `git check-ref-format`, and no leading dash or characters that are no plain text. */
export function isBranchName(name: string): boolean {
  if (name.length > 200 || name.startsWith('-') || name.endsWith('.') || name.includes('..') || name.includes('@{'))
    return false;
  if (/[\p{C}\p{Z}~^:?*[\\]/u.test(name)) return false;
  return name
    .split('/')
    .every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock') && part !== '@');
}
