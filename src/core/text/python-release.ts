const ARCHIVE = /\.(?:whl|egg|zip|tgz|tar\.\w+)$/i;
const WITH_TAGS = /\.(?:whl|egg)$/i;
const STAGES: Readonly<Record<string, string>> = { alpha: 'a', beta: 'b', c: 'rc', pre: 'rc', preview: 'rc' };
/** PEP 440, appendix B. A file name has `_` for the `+` in front of a local version. */
const VERSION =
  /^v?(?:(\d+)!)?(\d+(?:\.\d+)*)(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d*))?(?:-(\d+)|[-_.]?(post|rev|r)[-_.]?(\d*))?(?:[-_.]?(dev)[-_.]?(\d*))?(?:[+_]([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$/;

/** The name of a Python package in the one form that all its spellings have: My_Lib.x is my-lib-x (PEP 503). */
export const plainName = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-');

/** Whether two texts are the same version: 1.0-beta.2 is 1.0b2, and 1.0 is 1.0.0, but 1.10 is not 1.1.0 (PEP 440). */
export const isSameVersion = (one: string, other: string): boolean => versionKey(one) === versionKey(other);

/**
 * Whether a wheel or source archive has the name of a package and, where it is given, of its version. A name may have dashes
 * too, so each dash of the file name can be the one in front of the version.
 */
export function isOfPackage(file: string, name: string, version: string | undefined): boolean {
  const parts = file.replace(ARCHIVE, '').split('-');
  return parts.some((_, at) => {
    if (at === 0 || plainName(parts.slice(0, at).join('-')) !== plainName(name)) return false;
    // A wheel has its tags after the version, which has no dash there.
    const found = WITH_TAGS.test(file) ? (parts[at] ?? '') : parts.slice(at).join('-');
    return version === undefined ? /^v?\d/i.test(found) : isSameVersion(found, version);
  });
}

/** What the spellings of a version have in common. A text that is not a version is only in lower case. */
function versionKey(version: string): string {
  const text = version.trim().toLowerCase();
  const found = VERSION.exec(text);
  if (found === null) return text;
  const [, epoch, release = '', stage, stageNumber, dashed, post, postNumber, dev, devNumber, local] = found;
  const number = (digits: string | undefined): string => (digits ?? '').replace(/^0+(?=\d)/, '') || '0';
  const numbers = release.split('.').map(number);
  while (numbers.length > 1 && numbers.at(-1) === '0') numbers.pop();
  return [
    `${number(epoch)}!${numbers.join('.')}`,
    stage === undefined ? '' : `${STAGES[stage] ?? stage}${number(stageNumber)}`,
    post === undefined && dashed === undefined ? '' : `post${number(postNumber ?? dashed)}`,
    dev === undefined ? '' : `dev${number(devNumber)}`,
    local === undefined ? '' : local.split(/[-_.]/).map(number).join('.'),
  ].join(' ');
}
