import { oneOf, pattern } from '../../../formats/words.ts';

/** A tag as releases have it: only those who may write to the action's repository can set one. */
export const RELEASE: RegExp = /^v?\d{1,6}(\.\d{1,6}){0,3}(-(alpha|beta|rc)\.?\d{0,4})?$/;
/** An action or a workflow of another repository at a full commit id: `owner/name[/path]@<40 hexadecimal digits>`. */
const PIN = /^[\w.-]{1,100}\/[\w.-]{1,100}(?:\/[\w./-]{1,200})?@[0-9a-f]{40}$/;
/** How bots write a version behind a pin. */
const MARKS = oneOf`tag= pin@? @ ratchet:[\w./-]{1,200}@`;
const COMMENT = pattern()`^#\s*(?:${MARKS})?(\S{1,60})$`;
const LINE = /^\s*(?:-\s+)?(["']?)uses\1\s*:\s*(["']?)([^\s"'#]{1,400})\2\s+(#.*)$/;
const MAX_LINE_CHARS = 1000;

/** Pinned actions of a workflow, `name@commit`, with the release that the comments behind them name; '' if they differ. */
export type PinnedReleases = ReadonlyMap<string, string>;

/** The pinned actions in a workflow's text that have a release in a comment behind them. */
export function pinnedReleases(text: string): PinnedReleases {
  const found = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, , , value = '', comment = ''] = LINE.exec(line.slice(0, MAX_LINE_CHARS)) ?? [];
    const release = COMMENT.exec(comment.trimEnd())?.[1] ?? '';
    if (PIN.test(value))
      found.set(value, RELEASE.test(release) && (found.get(value) ?? release) === release ? release : '');
  }
  return found;
}

/** The same action with the tag of another release. The id of a commit may be one of any fork, so it is not one. */
export function isNextTag(value: string, old: readonly string[]): boolean {
  const [name, tag] = actionOf(value);
  return RELEASE.test(tag) && !/^\.|^docker:/.test(name) && old.some((one) => isOfAction(one, name, RELEASE));
}

/**
 * Whether a `uses:` value is an action that keeps its name, while its release and the commit that it is pinned to are others
 * than before. A tag may become a pin: `v4` the commit of `v4.2.0`.
 */
export function isMovedPin(
  value: string,
  old: readonly string[],
  releases: { readonly before: PinnedReleases; readonly after: PinnedReleases },
): boolean {
  const release = releases.after.get(value) ?? '';
  const [name] = actionOf(value);
  return (
    release !== '' &&
    old.some((one) => {
      const was = releases.before.get(one) ?? '';
      return isOfAction(one, name, RELEASE) || (isOfAction(one, name, /./) && was !== '' && was !== release);
    })
  );
}

const isOfAction = (value: string, name: string, tag: RegExp): boolean => {
  const [other, its] = actionOf(value);
  return other === name && tag.test(its);
};

function actionOf(value: string): readonly [name: string, tag: string] {
  const at = value.lastIndexOf('@');
  return at < 0 ? [value, ''] : [value.slice(0, at), value.slice(at + 1)];
}
