import { isBranchName } from './bundles/bundle.ts';
import { hostGit } from './host-git.ts';

/** Scripts of others, in CI for example, put names of branches into shell commands: no character that a shell acts on. */
const PLAIN_NAME = /^[\p{L}\p{N}][\p{L}\p{N}._/+@-]*$/u;
/** Files of git's own that name commits (gitrevisions(7)). */
const ROOT_REF = /^(HEAD|[A-Z_]+_HEAD|AUTO_MERGE)$/;
/** Where git looks for a short name, and the name that it gives the first remote. */
const OF_OTHER_REFS = ['refs', 'heads', 'tags', 'remotes', 'origin'];

/**
 * Why no new branch of the user may have a name: it is not valid, or git, or the user, would take it for another ref.
 * Undefined for a name that is free of that. Whether there is such a branch is not checked. Reads refs only.
 */
export function whyRefusedName(project: string, name: string): string | undefined {
  const shown = JSON.stringify(name);
  if (!isBranchName(name) || !PLAIN_NAME.test(name)) return `${shown} is not a valid name for a branch`;
  if (ROOT_REF.test(name) || /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(name))
    return `${shown} is not a valid name for a branch: git has another meaning for it`;
  const first = name.split('/')[0] as string;
  const others = refs(project, [`refs/tags/${name}`, `refs/remotes/${first}`]);
  if (others.includes(`refs/tags/${name}`))
    return `${shown} is not a valid name for a branch here: there is a tag ${name}`;
  const isRemote = others.some((ref) => ref.startsWith(`refs/remotes/${first}/`));
  if (name !== first && (OF_OTHER_REFS.includes(first) || isRemote))
    return `${shown} is not a valid name for a branch here: git reads ${first}/… as the name of another ref`;
  return undefined;
}

/** Full names of the refs that these patterns name, and of those below them. */
function refs(project: string, patterns: readonly string[]): string[] {
  const listed = hostGit(project, ['for-each-ref', '--format=%(refname)', ...patterns]).toString();
  return listed.split('\n').filter((line) => line !== '');
}
