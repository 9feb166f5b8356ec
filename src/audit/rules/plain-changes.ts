import { anyOf, words } from '../formats/words.ts';
import { differOnlyIn, onlyPlainKeys, type PlainChange } from '../judges/plain-change.ts';
import { WORKFLOW_PATHS, workflowChanges } from './build/workflows/changes.ts';
import { PLAIN_CI_CHANGES } from './build/workflows/other-services.ts';

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
    proves: ({ before, after }) => [before, after].every((text) => /^\d{1,4}\.\d{1,4}\.\d{1,4}\n?$/.test(text)),
  },
  {
    paths: ['.claude/settings.json'],
    proves: onlyPlainKeys('json', {
      safe: /^(spinnerTipsEnabled|showTurnDuration|terminalProgressBarEnabled|prefersReducedMotion)=(true|false)$/,
    }),
  },
  { paths: ['PKGBUILD'], proves: isNextRelease },
  { paths: WORKFLOW_PATHS, proves: (texts) => workflowChanges(texts).length === 0 },
  PLAIN_CI_CHANGES,
  { paths: ['gradle/wrapper/gradle-wrapper.properties'], proves: isNextGradle },
  { paths: ['*.xcscheme'], proves: onlyOtherXcode },
];

const TOKEN = /^\/\/registry\.npmjs\.org\/:_authToken=\$\{(NPM_TOKEN|NODE_AUTH_TOKEN)\}$/;

const withoutLines = (form: RegExp, text: string): string =>
  text
    .split('\n')
    .filter((line) => !form.test(line))
    .join('\n');

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

const GRADLE_URL =
  /^distributionUrl=https\\?:\/\/services\.gradle\.org\/distributions\/gradle-\d[\w.-]{0,30}-(bin|all)\.zip$/;
const GRADLE_LINES = anyOf(
  GRADLE_URL,
  /^distributionSha256Sum=[0-9a-f]{64}$/,
  /^networkTimeout=\d{1,7}$/,
  /^validateDistributionUrl=true$/,
);

/** Whether the wrapper of Gradle gets another release from Gradle's own server. The checksum moves only with the release. */
function isNextGradle({ before, after }: { readonly before: string; readonly after: string }): boolean {
  const urlOf = (text: string): readonly string[] => text.split('\n').filter((line) => GRADLE_URL.test(line));
  const isChecked = (text: string): boolean => /^distributionSha256Sum=/m.test(text);
  if (!differOnlyIn(GRADLE_LINES, { before, after }) || [before, after].some((text) => urlOf(text).length !== 1))
    return false;
  return urlOf(before)[0] !== urlOf(after)[0] && (!isChecked(before) || isChecked(after));
}

/** Whether a scheme of Xcode differs in the release of Xcode that last wrote it. */
function onlyOtherXcode(texts: { readonly before: string; readonly after: string }): boolean {
  const version = /^\s*(LastUpgradeVersion|version)\s*=\s*"[\d.]{1,8}">?$/;
  return differOnlyIn(version, texts) && withoutLines(version, texts.before) === withoutLines(version, texts.after);
}
