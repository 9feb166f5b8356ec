import { anyOf, oneOf, pattern, words } from '../../formats/words.ts';
import type { HarmlessTable } from '../../judges/harmless-keys.ts';
import type { Look } from '../../judges/rule.ts';

/** Switches of Gradle, Android and Kotlin, and properties of the project itself: a name without a dot. */
export const GRADLE_PROPERTIES: HarmlessTable = {
  files: ['gradle.properties'],
  format: 'properties',
  harmless: {
    switch: words`
      org.gradle.{caching,parallel,daemon,configureondemand,configuration-cache,configuration-cache.problems,warning.mode,workers.max,vfs.watch,priority,logging.level,console,welcome}
      android.* kotlin.*.* kotlin.* ksp.*.* kapt.*.* *
    `,
    version: words`{version,VERSION_NAME,VERSION_CODE,**Version,**.version,**_version,**-version,VERSION*}`,
    word: words`* group GROUP POM_ARTIFACT_ID POM_PACKAGING kotlin.code.style org.gradle.{warning.mode,console,logging.level}`,
    text: words`POM_{NAME,DESCRIPTION,INCEPTION_YEAR,LICENCE_NAME,LICENSE_NAME,DEVELOPER_NAME,DEVELOPER_ID}`,
    never: words`systemProp.*** ***{jvm,args,home,installations,path,dir,file,command,exec,class,main,url,repo,host,proxy,user,password,token,plugin,script}***`,
  },
};

/** Names and versions of a project in reports of SonarQube. Where it sends them, and what it skips, is not plain. */
export const SONAR: HarmlessTable = {
  files: ['sonar-project.properties'],
  format: 'properties',
  harmless: {
    text: words`sonar.{projectName,projectDescription}`,
    version: words`sonar.{projectVersion,java.source,java.target,python.version,php.version}`,
    word: words`sonar.sourceEncoding`,
    url: words`sonar.links.*`,
  },
};

const RUNS = oneOf`
  (spring\.)?config\.(import|location|additional-location|name|activate\.on-profile\.import) spring\.cloud\.(config|bootstrap|function|compute)\.[\w.-]+
  logging\.config spring\.(main\.sources|autoconfigure\.exclude|factories|jmx\.[\w.-]+|devtools\.remote\.[\w.-]+|profiles\.include)
  spring\.h2\.console\.settings\.(web-allow-others|trace)
  spring\.(datasource|sql\.init)\.([\w-]+\.)*((schema|data)(-locations|-username|-password)?|init-sql|connection-init-sql|driver-class-name|type|jndi-name)
  spring\.(liquibase|flyway)\.(change-log|locations|init-sqls|url) management\.endpoints\.web\.exposure\.include management\.endpoint\.[\w-]+\.enabled
  server\.(ssl\.enabled|tomcat\.basedir) ([\w-]+\.)*(class-name|dialect|interceptors|listeners|javaagent)
`;
/** Keys of Spring Boot that load settings, classes or programs of a database, or open an interface, however they are nested. */
export const SPRING: Look = {
  kind: 'keys',
  format: 'auto',
  danger: pattern('i')`^(${RUNS})(\[\])*$`,
  // The usual interfaces, drivers and switches.
  harmless: anyOf(
    /^spring\.jpa\.([\w-]+\.)*dialect=org\.hibernate\.dialect\.\w+$/i,
    /^(\w[\w-]*\.)*driver-class-name=(org\.(h2|postgresql|hsqldb|mariadb\.jdbc)\.\w+|com\.mysql(\.cj)?\.jdbc\.Driver|org\.h2\.Driver)$/i,
    /^management\.endpoints\.web\.exposure\.include(\[\])?=(health|info)(,\s*(health|info))*$|^server\.ssl\.enabled=true$/i,
  ),
};
