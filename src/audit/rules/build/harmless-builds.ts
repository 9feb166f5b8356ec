import { onlyHarmlessKeys, onlyLines } from '../../judges/harmless-change.ts';
import type { BothTexts, HarmlessChange } from '../../judges/rule.ts';

/** Descriptions of tasks, and the version that a build of Meson has. */
export const HARMLESS_TASKS: readonly HarmlessChange[] = [
  {
    files: ['Taskfile{,.dist}.y{,a}ml'],
    proves: onlyHarmlessKeys('yaml', {
      harmless: { text: ['tasks.*.{desc,summary}'] },
      lines: /^\s+(desc|summary): (?!.*(#|: |\{))["']?\w[^"']*["']?$/,
    }),
  },
  { files: ['meson.build'], proves: isNextMesonVersion },
];

/** The next release of what a recipe of pacman builds. */
export const HARMLESS_RECIPE: HarmlessChange = { files: ['PKGBUILD'], proves: isNextRelease };

const VERSION = /^pkgver=(\d+(?:\.\d+){1,5})$/;
const SUMS = /^(?:md5|sha\d{3}|b2)sums=\((["'])[0-9a-f]+\1\)$/;

/**
 * Whether a recipe of pacman has another version, and with it another archive of the same place: the line of its source is
 * the old one with the new version in it, or takes the version from the variable.
 */
function isNextRelease({ before, after }: BothTexts): boolean {
  const [old, now] = [before, after].map((text) => text.split('\n')) as [string[], string[]];
  const [from, to] = [old, now].map((lines) => lines.flatMap((line) => VERSION.exec(line)?.[1] ?? [])[0]);
  if (from === undefined || to === undefined || from === to || old.some(isOtherUse)) return false;
  // Each of these lines once: in a function or a document of the shell it would be something else.
  const once = (form: RegExp): boolean =>
    [old, now].every((lines) => lines.filter((line) => form.test(line)).length === 1);
  if (old.length !== now.length || !once(/pkgver=/) || !once(/^source=/) || !once(/^\w+sums=/)) return false;
  return old.every((line, at) => {
    const next = now[at] as string;
    if (line.startsWith('source=')) return isSourceOf(line, next, from, to);
    if (line === next) return !SUMS.test(line);
    const forms = [VERSION, /^pkgrel=\d{1,4}$/, SUMS];
    return forms.some((form) => form.test(line) && form.test(next)) && nameOf(line) === nameOf(next);
  });
}

/** A use of the version that may lead to another file; the folder of an unpacked archive has the version in its name. */
const isOtherUse = (line: string): boolean =>
  line.includes('pkgver') && !/^(pkgver|source)=|^\s*cd ["']?[\w$"{}/.-]+$/.test(line);

const nameOf = (line: string): string => line.slice(0, line.indexOf('='));

/** Whether the last component of the only address has the version, and nothing else is other than before. */
function isSourceOf(line: string, next: string, from: string, to: string): boolean {
  const name = /^source=\((["'])(https:\/\/[\w./~-]+\/)([\w.${}-]+)\1\)$/.exec(line);
  if (name === null) return false;
  const [, quote = '', place = '', archive = ''] = name;
  const takesVariable = quote === '"' && /\$(\{pkgver\}|pkgver\b)/.test(archive);
  if (!takesVariable && !archive.includes(from)) return false;
  const moved = takesVariable ? archive : archive.replaceAll(from, to);
  return next === `source=(${quote}${place}${moved}${quote})`;
}

/** Whether a build of Meson says another version of itself: one argument of its first call, `project(…)`. */
function isNextMesonVersion(texts: BothTexts): boolean {
  const version = /^\s*version\s*:\s*'\d[\w.-]{0,30}',?$/;
  const isInProject = (text: string): boolean => {
    const call = /^(?:#[^\n]*\n|\s)*project\(((?:[^()'#]|'[^'\n\\]*')*)\)/.exec(text)?.[1] ?? '';
    return (
      text.split('\n').filter((line) => version.test(line)).length === 1 &&
      version.test(call.split('\n').find((line) => version.test(line)) ?? '')
    );
  };
  return onlyLines(version)(texts) && isInProject(texts.before) && isInProject(texts.after);
}
