import { anyOf } from '../../formats/words.ts';
import { differOnlyIn, type PlainChange } from '../../judges/plain-change.ts';

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
function isNextTool({ url, lines }: Wrapper): PlainChange['proves'] {
  const urlOf = (text: string): readonly string[] => text.split('\n').filter((line) => url.test(line));
  const isChecked = (text: string): boolean => /^distributionSha256Sum=/m.test(text);
  return ({ before, after }) => {
    if (!differOnlyIn(lines, { before, after }) || [before, after].some((text) => urlOf(text).length !== 1))
      return false;
    return urlOf(before)[0] !== urlOf(after)[0] && (!isChecked(before) || isChecked(after));
  };
}

/** The next release of a build tool that a wrapper downloads. */
export const PLAIN_WRAPPERS: readonly PlainChange[] = [
  { paths: ['gradle/wrapper/gradle-wrapper.properties'], proves: isNextTool(GRADLE) },
  { paths: ['.mvn/wrapper/maven-wrapper.properties'], proves: isNextTool(MAVEN) },
];
