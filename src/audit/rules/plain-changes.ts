import { readStructure } from '../formats/structured.ts';
import { words } from '../formats/words.ts';
import { differOnlyIn, onlyPlainKeys, type PlainChange } from '../judges/plain-change.ts';
import { PLAIN_BAZEL } from './build/plain-bazel.ts';
import { WORKFLOW_PATHS, workflowChanges } from './build/workflows/changes.ts';
import { PLAIN_CI_CHANGES } from './build/workflows/other-services.ts';
import { PLAIN_WRAPPERS } from './languages/plain-wrappers.ts';

/** Changes that no rule has to report, in files of which rules report any other change. */
export const PLAIN_CHANGES: readonly PlainChange[] = [
  {
    paths: ['.cargo/config.toml'],
    proves: onlyPlainKeys('toml', {
      plain: {
        switch: words`
          build.jobs net.{retry,offline} term.{quiet,verbose,color,hyperlinks,unicode} term.progress.{when,width}
        `,
      },
      lines:
        /^\[(build|term|net)\]$|^(jobs|retry|offline|quiet|verbose|color|hyperlinks|unicode|when|width)\s*=\s*["']?\w+["']?$/,
    }),
  },
  {
    paths: ['.vscode/c_cpp_properties.json'],
    proves: onlyPlainKeys('json', {
      plain: {
        switch: ['version'],
        word: ['configurations.{name,cStandard,cppStandard,intelliSenseMode}'],
      },
      // The editor only looks for headers there.
      safe: /^configurations\[\]\.(defines\[\]=\w+(=[\w.]*)?|includePath\[\]=(?!.*\.\.)(\$\{workspaceFolder\}(\/[\w.*-]+)*|\/usr\/(local\/)?include))$/,
    }),
  },
  {
    paths: ['.vscode/extensions.json'],
    proves: () => false,
    // A list of what the editor offers to install is shorter; what it must not offer is another list.
    provesDeletion: onlyRecommends,
  },
  {
    paths: ['.fleet/settings.json'],
    proves: onlyPlainKeys('json', {
      plain: { word: ['theme'], switch: ['editor.{fontSize,lineHeight,tabSize,showLineNumbers,wordWrap}'] },
    }),
  },
  {
    paths: ['.gitpod.y{,a}ml'],
    proves: onlyPlainKeys('yaml', {
      safe: /^ports\[\]\.(port=\d{1,5}|onOpen=(ignore|notify))$/,
      lines: /^\s*(- )?(port|onOpen): \w+$/,
    }),
  },
  {
    paths: ['.npmrc'],
    // The token goes to npm's own registry, from the variable that is there for it.
    proves: (texts) =>
      differOnlyIn(TOKEN, texts) && withoutLines(TOKEN, texts.before) === withoutLines(TOKEN, texts.after),
  },
  {
    paths: ['Taskfile{,.dist}.y{,a}ml'],
    proves: onlyPlainKeys('yaml', {
      plain: { text: ['tasks.*.{desc,summary}'] },
      lines: /^\s+(desc|summary): (?!.*(#|: |\{))["']?\w[^"']*["']?$/,
    }),
  },
  {
    paths: ['.bazelversion'],
    proves: ({ after }) => /^\d{1,4}\.\d{1,4}\.\d{1,4}\n?$/.test(after),
  },
  {
    paths: ['.claude/settings.json'],
    proves: onlyPlainKeys('json', {
      safe: /^(spinnerTipsEnabled|showTurnDuration|terminalProgressBarEnabled|prefersReducedMotion)=(true|false)$/,
    }),
  },
  {
    paths: ['.ackrc'],
    // As a line of .ignore: the search skips one more name.
    proves: (texts) =>
      differOnlyIn(SKIPPED, texts) && withoutLines(SKIPPED, texts.before) === withoutLines(SKIPPED, texts.after),
  },
  { paths: ['PKGBUILD'], proves: isNextRelease },
  { paths: WORKFLOW_PATHS, proves: (texts) => workflowChanges(texts).length === 0 },
  PLAIN_CI_CHANGES,
  ...PLAIN_WRAPPERS,
  ...PLAIN_BAZEL,
  { paths: ['meson.build'], proves: isNextMesonVersion },
  { paths: ['*.xcscheme'], proves: onlyOtherXcode },
];

const TOKEN = /^\/\/registry\.npmjs\.org\/:_authToken=\$\{(NPM_TOKEN|NODE_AUTH_TOKEN)\}$/;

const SKIPPED = /^--ignore-(dir|directory|file)=(is:|ext:)?[\w.-]{1,60}$/;

const withoutLines = (form: RegExp, text: string): string =>
  text
    .split('\n')
    .filter((line) => !form.test(line))
    .join('\n');

/** Whether a file recommends extensions and does nothing else. */
function onlyRecommends(before: string): boolean {
  const { leaves, duplicates } = readStructure(before, 'jsonc', 'x.json') ?? { leaves: [], duplicates: [''] };
  return duplicates.length === 0 && leaves.every(({ key }) => key === 'recommendations[]');
}

const VERSION = /^pkgver=(\d+(?:\.\d+){1,5})$/;
const SUMS = /^(?:md5|sha\d{3}|b2)sums=\((["'])[0-9a-f]+\1\)$/;

/**
 * Whether a recipe of pacman has another version, and with it another archive of the same place: the line of its source is
 * the old one with the new version in it, or takes the version from the variable.
 */
function isNextRelease({ before, after }: { readonly before: string; readonly after: string }): boolean {
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
function isNextMesonVersion(texts: { readonly before: string; readonly after: string }): boolean {
  const version = /^\s*version\s*:\s*'\d[\w.-]{0,30}',?$/;
  const isInProject = (text: string): boolean => {
    const call = /^(?:\s*(?:#[^\n]*)?\n)*project\(((?:[^()'#]|'[^'\n\\]*')*)\)/.exec(text)?.[1] ?? '';
    return (
      text.split('\n').filter((line) => version.test(line)).length === 1 &&
      version.test(call.split('\n').find((line) => version.test(line)) ?? '')
    );
  };
  return (
    differOnlyIn(version, texts) &&
    withoutLines(version, texts.before) === withoutLines(version, texts.after) &&
    isInProject(texts.before) &&
    isInProject(texts.after)
  );
}

/** Whether a scheme of Xcode differs in the release of Xcode that last wrote it. */
function onlyOtherXcode(texts: { readonly before: string; readonly after: string }): boolean {
  const version = /^\s*(LastUpgradeVersion|version)\s*=\s*"[\d.]{1,8}">?$/;
  return differOnlyIn(version, texts) && withoutLines(version, texts.before) === withoutLines(version, texts.after);
}
