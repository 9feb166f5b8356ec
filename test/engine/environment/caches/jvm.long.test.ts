import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CacheTools } from '../../../support/cache-tools.ts';
import { sha } from '../../../support/registry.ts';

// Debian's Maven and Gradle over our image, without a network. Maven Central is a registry of the test's own, with what
// Debian has of it and a library.

const CENTRAL = '/repo.maven.apache.org/maven2/';
let tools: CacheTools;

beforeAll(async () => {
  const packages = 'default-jdk-headless maven libmaven-compiler-plugin-java libmaven-resources-plugin-java gradle';
  tools = await CacheTools.open(packages, path.join(import.meta.dirname, 'packages-jvm.sh'));
});
afterAll(() => tools?.[Symbol.asyncDispose]());

it('maven builds without a network from the files of a checksum file', async () => {
  const files = [...tools.registry.files].filter(([at]) => at.startsWith(CENTRAL) && /\.(pom|jar)$/.test(at));
  const lock = files.map(([at, content]) => `${sha('sha256', content)}  ${at.slice(CENTRAL.length)}\n`).join('');
  const paths = await tools.fill('maven', lock);
  const script = `mkdir -p p/src/main/java; cd p
cat > pom.xml <<'END'
<project><modelVersion>4.0.0</modelVersion><groupId>p</groupId><artifactId>p</artifactId><version>1</version>
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target></properties>
<dependencies><dependency><groupId>test</groupId><artifactId>lib</artifactId><version>1.0</version></dependency></dependencies>
</project>
END
echo 'public class Main { public static void main(String[] a) { System.out.println(test.Lib.WORD); } }' > src/main/java/Main.java
mvn -B -o -q compile && java -cp target/classes:$HOME/.m2/repository/test/lib/1.0/lib-1.0.jar Main`;
  expect(tools.inside('maven', paths, script)).toMatch(/from the library$/m);
  expect(tools.inside('maven', paths, script, { bare: true })).not.toContain('from the library');
});

/** A registry on the loopback of the container. It prints each file that it sends. */
const SERVE = `cat > serve.mjs <<'END'
import { existsSync, readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import http from 'node:http';
http.createServer(({ url, method }, response) => {
  const file = '/out/repo.maven.apache.org' + url.replace(/[.]sha1$/, '');
  if (!existsSync(file)) return response.writeHead(404).end();
  if (method === 'GET') console.log('sent ' + url);
  const content = readFileSync(file);
  response.end(url.endsWith('.sha1') ? createHash('sha1').update(content).digest('hex') : content);
}).listen(4873, '127.0.0.1');
END
node serve.mjs & sleep 1`;

it('gradle takes a library from the cache, where the registry names its SHA-1', async () => {
  const at = `${CENTRAL}test/lib/1.0`;
  const artifact = (name: string): string =>
    `<artifact name="${name}"><sha256 value="${sha('sha256', tools.served(`${at}/${name}`))}" origin="x"/></artifact>`;
  const component = `<component group="test" name="lib" version="1.0">${artifact('lib-1.0.jar')}${artifact('lib-1.0.pom')}</component>`;
  const metadata = `<verification-metadata><components>${component}</components></verification-metadata>`;
  const paths = await tools.fill('gradle', metadata);
  const script = `${SERVE}
mkdir g; cd g; echo > settings.gradle
echo 'repositories { maven { url "http://127.0.0.1:4873/maven2" } }; configurations { x }; dependencies { x "test:lib:1.0" }; task show { doLast { configurations.x.each { println it.name + " resolved" } } }' > build.gradle
gradle -g ~/gradle --no-daemon -q show; kill %1`;
  const sent = (output: string): string[] => output.match(/(?<=^sent ).*\.(jar|pom)$/gm) ?? [];
  const without = tools.inside('gradle', paths, script, { bare: true });
  const withCache = tools.inside('gradle', paths, script);
  for (const output of [without, withCache]) expect(output).toMatch(/^lib-1\.0\.jar resolved$/m);
  const file = '/maven2/test/lib/1.0/lib-1.0';
  expect([sent(without), sent(withCache)]).toEqual([[`${file}.pom`, `${file}.jar`], []]);
});
