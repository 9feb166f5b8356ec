import { anyOf } from '../../formats/words.ts';
import { differOnlyIn, onlyLines } from '../../judges/harmless-change.ts';
import type { BothTexts, HarmlessChange } from '../../judges/rule.ts';

/** The settings of a script that downloads its build tool: the address of the tool, and lines that may change with it. */
interface Wrapper {
  readonly url: RegExp;
  readonly lines: RegExp;
}

const SUM = /^(distribution|wrapper)Sha256Sum=[0-9a-f]{64}$/;
const GRADLE_URL =
  /^distributionUrl=https\\?:\/\/services\.gradle\.org\/distributions\/gradle-\d[\w.-]{0,30}-(bin|all)\.zip$/;
const GRADLE: Wrapper = {
  url: GRADLE_URL,
  lines: anyOf(GRADLE_URL, SUM, /^networkTimeout=\d{1,7}$/, /^validateDistributionUrl=true$/),
};
const MAVEN_URL =
  /^distributionUrl=https:\/\/repo\.maven\.apache\.org\/maven2\/org\/apache\/maven\/apache-maven\/(\d[\w.-]{0,30})\/apache-maven-\1-bin\.(?:zip|tar\.gz)$/;
const MAVEN: Wrapper = { url: MAVEN_URL, lines: new RegExp(`${MAVEN_URL.source}|${SUM.source}`) };

/** Whether a wrapper gets another release from the tool's own server. The checksum moves only with the release. */
function isNextTool({ url, lines }: Wrapper): HarmlessChange['proves'] {
  const urlOf = (text: string): readonly string[] => text.split('\n').filter((line) => url.test(line));
  const isChecked = (text: string): boolean => /^distributionSha256Sum=/m.test(text);
  return ({ before, after }) => {
    if (!differOnlyIn(lines, { before, after }) || [before, after].some((text) => urlOf(text).length !== 1))
      return false;
    return urlOf(before)[0] !== urlOf(after)[0] && (!isChecked(before) || isChecked(after));
  };
}

/** Memory, and the parts of the compiler that checkers of code need. Agents, classes and properties are not here. */
const JVM_OPTION =
  /^-(Xm[nsx]|Xss|XX:MaxMetaspaceSize=|XX:MaxRAMPercentage=)\d{1,6}(\.\d+)?[kmgKMG]?$|^--add-(exports|opens)[= ]jdk\.compiler\/com\.sun\.tools\.javac\.\w+=ALL-UNNAMED$|^$/;
/** How much Maven shows, and how many threads it has. */
const MAVEN_OPTION =
  /^(-B|--batch-mode|-V|--show-version|-e|--errors|-ntp|--no-transfer-progress|-q|--quiet|-fae|--fail-at-end|-T ?\d{1,2}(\.\d)?C?|--strict-checksums)$|^$/;
/** What Maven refuses to take: it may only be added. */
const STRICTER = /^--strict-checksums$/;
const EXTENSION_VERSION = /^\s*<version>\d[\w.-]{0,40}<\/version>$/;

/** How many lines have a form. */
const countOf = (form: RegExp, text: string): number => text.split('\n').filter((line) => form.test(line)).length;

/** The same file, with other versions in the places of the old ones. */
function onlyOtherVersions({ before, after }: BothTexts): boolean {
  const rest = (text: string): string =>
    text
      .split('\n')
      .map((line) => (EXTENSION_VERSION.test(line) ? 'version' : line))
      .join('\n');
  return differOnlyIn(EXTENSION_VERSION, { before, after }) && rest(before) === rest(after);
}

/** The next release of a build tool that a wrapper downloads, and options of the tool that load nothing. */
export const PLAIN_WRAPPERS: readonly HarmlessChange[] = [
  { files: ['.mvn/jvm.config'], proves: onlyLines(JVM_OPTION) },
  {
    files: ['.mvn/maven.config'],
    proves: (texts) =>
      onlyLines(MAVEN_OPTION)(texts) && countOf(STRICTER, texts.before) <= countOf(STRICTER, texts.after),
  },
  { files: ['.mvn/extensions.xml'], proves: onlyOtherVersions },
  { files: ['gradle/wrapper/gradle-wrapper.properties'], proves: isNextTool(GRADLE) },
  { files: ['.mvn/wrapper/maven-wrapper.properties'], proves: isNextTool(MAVEN) },
];
