import type { JudgedText } from './rule.ts';

/**
 * The change without its new lines that are a deleted line with another version. `form` matches such a line, and its first
 * group is the version.
 */
export function withoutNextVersions(text: JudgedText, form: RegExp): JudgedText {
  const nameOf = (line: string): string | undefined => {
    const version = form.exec(line)?.[1];
    const at = version === undefined ? -1 : line.lastIndexOf(version);
    return at < 0 ? undefined : line.slice(0, at) + line.slice(at + (version?.length ?? 0));
  };
  const old = new Set(text.deleted().map((line) => nameOf(line.text)));
  const isNext = (line: string): boolean => {
    const name = nameOf(line);
    return name !== undefined && old.has(name);
  };
  return { ...text, added: () => text.added().filter((line) => !isNext(line.text)) };
}
