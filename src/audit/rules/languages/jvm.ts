import type { Leaf } from '../../formats/leaf.ts';
import { newLeaves, readStructure } from '../../formats/structured.ts';
import { anyOf, oneOf, pattern, wholeLine } from '../../formats/words.ts';
import { everyCommand } from '../../judges/every-line.ts';
import { judge, pathsOf } from '../../judges/judge.ts';
import { withoutNextVersions } from '../../judges/next-versions.ts';
import { ANY_CHANGE, type JudgedText, type Look, type Rule } from '../../judges/rule.ts';
import { MAVEN, MAVEN_SAFE } from './plain-builds.ts';
import { GRADLE_PROPERTIES, SPRING } from './plain-jvm.ts';
import { PLAIN_WRAPPERS } from './plain-wrappers.ts';

const GRADLE_CONFIGURATIONS = oneOf`
  \w{0,60}[iI]mplementation api compileOnly runtimeOnly \w{0,60}[Tt]est\w{0,60}(Implementation|RuntimeOnly|CompileOnly) kapt
  ksp developmentOnly testCompile compile
`;
/** Lines of a build that are plain data; every other one counts. */
const BUILD_LINES: Look = {
  kind: 'lines',
  danger: /./,
  // A comment may end within its line, and code may follow it. In a text of several lines, what looks like a comment is
  // part of the text, with calls in ${}; and `*call()` hands on a list.
  harmless: wholeLine(
    /\/\/[^$]*|#[^$]*|\*(?:\s[^/$({]*)?(?:\*\/)?|\*\/|\/\*[^/$]*(?:\*\/)?|[)\]}]+[,;]?/,
    pattern()`(${GRADLE_CONFIGURATIONS})\s*(?:\(\s*)?(platform\()?["'][\w.-]+:[\w.-]+(:[\w.$-]+)?["']\)?\)?`,
    /(version|group|description)\s*(?:=\s*)?["'][\w. +-]+["']/,
    /(ext\.)?\w{0,60}[vV]ersion\s*:?=\s*["'][\w.-]+["']/,
    /libraryDependencies\s*\+=\s*"[\w.-]+"\s*%%?%?\s*"[\w.-]+"\s*%\s*"[\w.-]+"(\s*%\s*(Test|Provided|"\w+"))?/,
    /sbt\.version=\d+\.\d+\.\d+/,
    // A library of the version catalog, which has its own rule, and the numbers of Android's interfaces.
    pattern()`(${GRADLE_CONFIGURATIONS})\s*\(\s*(platform\()?libs(\.[a-z]\w*)+\)?\)`,
    /(compile|target|min)Sdk(Version)?\s*(?:=\s*)?\(?\d{1,3}\)?|version = release\(\d{1,3}\)/,
  ),
};
/** A plugin or a library with its version. */
const NEXT_VERSION =
  /^(?:(?:id|kotlin)\s*(?:\(\s*)?["'][\w.-]+["']\s*(?:\)\s*)?version\s*(?:\(\s*)?["']|classpath\s*\(?["'][\w.-]+:[\w.-]+:)(\d[\w.-]{0,40})["']\)?(?:\s+apply\s*\(?(?:true|false)\)?)?$/;

const JAVA_SETTINGS = [
  'local.properties',
  'gradle/verification-metadata.xml',
  'gradle/init.d/**',
  'gradle/gradle-daemon-jvm.properties',
  '.sbtopts',
  '.jvmopts',
  '.java-opts',
  'lombok.config',
  'jvm.config',
  '.jshell',
  'javac.args',
  'argfile',
  '.kotlin/**',
  'detekt*.yml',
  'checkstyle*.xml',
  'spotless*',
  '.scalafmt.conf',
];
const SPRING_PATHS = ['{application,bootstrap}{,-*}.{properties,y{,a}ml}'];

export const jvmRules: readonly Rule[] = [
  {
    id: 'java-wrapper',
    family: 'languages',
    when: './gradlew, ./mvnw, opening in an IDE',
    severity: 'suspect',
    files: [
      'gradlew',
      'gradlew.bat',
      'mvnw',
      'mvnw.cmd',
      'gradle/wrapper/**',
      '.mvn/**',
      'sbt',
      'sbtx',
      'millw',
      'mill',
      'amper*',
      'kobaltw',
      'jpm',
      'lein',
      'jbang*',
    ],
    look: [
      ANY_CHANGE,
      {
        kind: 'lines',
        danger: /distributionUrl|wrapperUrl|Sha256|validate|-javaagent|-XX|extension|groupId/i,
        harmless: /distributionUrl=https\\?:\/\/services\.gradle\.org\/distributions\/gradle-[\d.]+-(bin|all)\.zip/,
      },
      everyCommand('.mvn/{jvm,maven}.config', '.mvn/extensions.xml'),
      everyCommand('{gradlew,mvnw,sbt,sbtx,mill,millw,lein,jpm,kobaltw}{,.bat,.cmd}'),
    ],
    harmless: ['comments', ...PLAIN_WRAPPERS],
    why: 'The wrapper downloads and runs the build tool.',
    source: 'gradle/wrapper-validation; Maven documentation',
  },
  {
    id: 'java-build',
    family: 'languages',
    when: 'opening in an IDE, any task',
    severity: 'suspect',
    files: [
      '*.gradle',
      '*.gradle.kts',
      'buildSrc/**',
      'build-logic/**',
      '*.sbt',
      'project/*.{scala,properties}',
      'build.sc',
      'build.mill',
      'build.xml',
      'ivy*.xml',
      'build.properties',
      'build.gradle.dcl',
      '*.lein',
      'jitpack.yml',
    ],
    look: [{ kind: 'custom', see: (text) => judge({ look: [BUILD_LINES] }, withoutNextVersions(text, NEXT_VERSION)) }],
    why: 'The file is a program that the IDE runs when it opens the project.',
    source: 'Gradle and sbt documentation',
  },
  {
    id: 'java-settings',
    family: 'languages',
    when: 'opening in an IDE, any task',
    severity: 'suspect',
    files: [...GRADLE_PROPERTIES.files, ...JAVA_SETTINGS],
    look: [
      { kind: 'settings', format: 'properties', ...GRADLE_PROPERTIES },
      { kind: 'lines', files: ['.scalafmt.conf'], danger: /^version\s*=(?!\s*"?\d+\.\d+\.\d+(-RC\d+)?"?$)/i },
      {
        kind: 'lines',
        files: JAVA_SETTINGS,
        danger: anyOf(
          /jvmargs|systemProp|java\.home|installations|javaagent|-XX|proxy|\b(sdk|ndk|cmake)\.dir|initscript/i,
          /(module|group|name|id)\s*=|trusted|verify|ignored|sha256|toolchain|auto-download|url|repositor|plugin/i,
          /classpath|import|-D\w+|-agent/i,
        ),
        removed: /sha256|pgp|verify|trusted-key/,
      },
    ],
    why: 'The file selects the Java that runs, its agents, or other packages under known names.',
    source: 'Gradle documentation',
  },
  {
    id: 'java-version-catalog',
    family: 'languages',
    when: 'opening in an IDE, any task',
    severity: 'suspect',
    files: ['gradle/*.versions.toml'],
    look: [{ kind: 'custom', see: catalogMoved }],
    why: 'A plugin or a library under a known name is another package now.',
    source: 'Gradle documentation, version catalogs',
  },
  {
    id: 'java-pom',
    family: 'languages',
    when: 'any mvn command, opening in an IDE',
    severity: 'suspect',
    files: ['pom.xml', '*.pom', 'settings.xml', 'toolchains.xml', '.polyglot.*'],
    look: [{ kind: 'settings', format: 'xml', harmless: { ...MAVEN, matching: MAVEN_SAFE } }],
    why: 'Plugins, extensions and repositories decide what the build runs.',
    source: 'Maven documentation',
  },
  {
    id: 'java-services',
    family: 'languages',
    when: 'compiling, testing or starting the program',
    severity: 'suspect',
    files: ['META-INF/services/*', 'META-INF/MANIFEST.MF', 'META-INF/spring{.factories,/*}', 'data_readers.clj{,c}'],
    look: [
      { kind: 'lines', danger: /^(?![\w-]+:\s)[\w${]|^(Premain|Agent|Launcher-Agent|Main|Boot)-?Class|^Class-Path|=/i },
    ],
    why: 'The Java virtual machine, a compiler or a framework loads the classes that it names.',
    source: 'java.util.ServiceLoader; java.lang.instrument; Spring documentation',
  },
  {
    id: 'java-runtime-config',
    family: 'languages',
    when: 'starting the program or its tests',
    severity: 'suspect',
    files: [
      ...SPRING_PATHS,
      'logging.properties',
      'META-INF/persistence.xml',
      'hibernate{.cfg.xml,.properties}',
      'jaas.conf',
      'META-INF/native-image/**',
      '*.{bnd,bndrun}',
      '{figwheel-main,dev.cljs,*.cljs}.edn',
      '{logback,log4j,log4j2}{,-test,-spring}.{xml,properties,json,y{,a}ml}',
      'junit-platform.properties',
      'quarkus*.properties',
    ],
    look: [
      { kind: 'custom', see: (text) => (pathsOf(SPRING_PATHS)(text.path) ? judge({ look: [SPRING] }, text) : []) },
      {
        kind: 'lines',
        danger: anyOf(
          /\bINIT\s*=|jndi|RUNSCRIPT|(ldap|rmi|iiop)s?:\/\/|config\.(import|location|additional-location)|^import:/i,
          /cloud\.config|<(script|insertFromJNDI|receiver|newRule|define|include)\b|ScriptAppender|SocketAppender/i,
          /SMTPAppender|autodetection|\$\{script:|\bscripts?\b|jmxremote|javaagent|^handlers\s*=/i,
          /^[\w.]+\.(class|handler)\s*=|LoginModule|\b(required|sufficient|requisite)\s*;|^Args\s*=/i,
          /^-(plugin|include|exec|runpath|testpath|make)|-hooks?\b|:watch|:main\b/i,
        ),
      },
    ],
    why: 'It makes the program load classes, scripts or settings from elsewhere.',
    source: 'Spring Boot, Logback and Log4j documentation; CVE-2021-44228',
  },
];

/**
 * New plugins, and names of libraries and plugins that now mean another package; a new version alone does not count.
 */
function catalogMoved({ path, before = '', after = '' }: JudgedText): string[] {
  const now = readStructure(after, 'toml', path);
  if (now === undefined) return ['does not parse'];
  const packages = (leaves: readonly Leaf[]): Leaf[] =>
    leaves.flatMap(({ key, value }) => {
      if (/^versions\.[^.]+(\.\w+)?$|^bundles\.|^metadata\.format\.version$/.test(key)) return [];
      if (/^(libraries|plugins)\..*\.version(\.\w+)?$/.test(key)) return [];
      // `group:name:version` in one text.
      const short = /^(libraries|plugins)\.[^.]+$/.test(key);
      return [{ key, value: short ? value.replace(/:[\w.+-]*$/, '') : value }];
    });
  const old = packages(readStructure(before, 'toml', path)?.leaves ?? []);
  return newLeaves(old, packages(now.leaves)).map(({ key, value }) => `${key}: ${value.slice(0, 120)}`);
}
