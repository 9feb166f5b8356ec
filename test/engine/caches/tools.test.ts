import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkArchives } from '../../../src/caches/check-archives.ts';
import { ecosystemOf } from '../../../src/caches/ecosystems.ts';
import { fillCache } from '../../../src/caches/inside/fill-cache.ts';
import { insideDir } from '../../../src/caches/place.ts';
import type { CacheName } from '../../../src/types/cache.ts';
import { connectForTest } from '../../support/engine.ts';
import { runLabel, testImage } from '../../support/image.ts';
import { openRegistry, type Registry, sha } from '../../support/registry.ts';

// Tools of Debian over our image, without a network: each gets its package from a cache that was filled from a registry of
// the test's own, and compares it with the lock file itself.

const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'run-claude-tools-')));
const tools = `run-claude-tools:caches-${process.pid}`;
let registry: Registry;

const docker = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8', maxBuffer: 1 << 26 });

beforeAll(async () => {
  const engine = await connectForTest();
  const image = await testImage(engine);
  await engine.close();
  const dockerfile = `FROM ${image}
USER root
RUN apt-get update && mkdir -p /usr/share/man/man1 \\
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \\
    cargo golang-go gradle default-jdk-headless ca-certificates-java \\
 && rm -rf /var/lib/apt/lists/*
`;
  mkdirSync(path.join(dir, 'context'));
  writeFileSync(path.join(dir, 'context', 'Dockerfile'), dockerfile);
  docker('build', '-q', '--label', runLabel(), '-t', tools, path.join(dir, 'context'));
  mkdirSync(path.join(dir, 'out'), { mode: 0o777 });
  const script = path.join(import.meta.dirname, 'packages.sh');
  const mounts = ['-v', `${path.join(dir, 'out')}:/out`, '-v', `${script}:/packages.sh:ro`];
  docker('run', '--rm', '--network', 'none', '-u', '0', ...mounts, tools, 'sh', '/packages.sh');
  registry = await openRegistry();
  for (const file of readdirSync(path.join(dir, 'out'), { recursive: true, withFileTypes: true })) {
    const at = path.join(file.parentPath, file.name);
    if (file.isFile()) registry.files.set(at.slice(path.join(dir, 'out').length), readFileSync(at));
  }
});

afterAll(async () => {
  await registry?.[Symbol.asyncDispose]();
  execFileSync('docker', ['rmi', '-f', tools], { stdio: 'ignore' });
  rmSync(dir, { recursive: true, force: true });
});

const served = (at: string): Buffer => {
  const content = registry.files.get(at);
  if (content === undefined) throw new Error(`the registry has no ${at}`);
  return content;
};

/** Fills the cache of a lock file from the registry, which has every host below its name. Returns the paths of the archives. */
async function fill(name: CacheName, lock: string): Promise<readonly string[]> {
  const ecosystem = ecosystemOf(name);
  const cache = path.join(dir, name);
  mkdirSync(cache);
  const { archives, skipped } = checkArchives(ecosystem, [ecosystem.read(lock, ecosystem.lockFiles[0] ?? '')]);
  expect(skipped).toEqual([]);
  const moved = archives.map((archive) => ({ ...archive, url: archive.url.replace('https:/', registry.url) }));
  const request = { archives: moved, dir: cache, previous: undefined, reserveBytes: 0 };
  expect(await fillCache(request, () => undefined)).toMatchObject({ kind: 'filled' });
  return archives.map(({ path: at }) => at);
}

/** Runs a script in a container with the cache, its links and its variables, and no network. */
function inside(
  name: CacheName,
  paths: readonly string[],
  script: string,
  linksIn = ecosystemOf(name).linksIn,
): string {
  const target = insideDir(name);
  const links = linksIn.flatMap((folder) =>
    paths.map((at) => `mkdir -p "$(dirname ~/${folder}/${at})"; ln -s ${target}/${at} ~/${folder}/${at}`),
  );
  const env = Object.entries(ecosystemOf(name).env(target)).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
  const cache = ['-v', `${path.join(dir, name)}:${target}:ro`, '--tmpfs', '/home/agent:exec,uid=1000', '-u', '1000'];
  const words = ['sh', '-c', ['exec 2>&1', 'cd ~', ...links, script].join('\n')];
  return docker('run', '--rm', '--network', 'none', '-e', 'HOME=/home/agent', ...env, ...cache, tools, ...words);
}

const b64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');

it('go builds with a module of the cache, whose hash it counts itself', async () => {
  const at = '/proxy.golang.org/example.test/!tiny/@v/v1.0.0';
  const line = (content: string | Buffer, name: string): string => `${sha('sha256', content)}  ${name}\n`;
  const mod = sha('sha256', line(served(`${at}.mod`), 'go.mod'));
  const text = 'package tiny\n\n// Word is from the module proxy.\nconst Word = "from the module proxy"\n';
  const top = 'example.test/Tiny@v1.0.0';
  const zip = sha(
    'sha256',
    line('', `${top}/a.txt`) + line(served(`${at}.mod`), `${top}/go.mod`) + line(text, `${top}/tiny.go`),
  );
  const sum = `example.test/Tiny v1.0.0 h1:${b64(zip)}\nexample.test/Tiny v1.0.0/go.mod h1:${b64(mod)}\n`;
  const paths = await fill('go', sum);
  const script = `mkdir x; cd x; printf 'module x\\n\\ngo 1.19\\n\\nrequire example.test/Tiny v1.0.0\\n' > go.mod
printf '${sum.replaceAll('\n', '\\n')}' > go.sum
printf 'package main\\n\\nimport tiny "example.test/Tiny"\\n\\nfunc main() { println(tiny.Word) }\\n' > main.go
GONOSUMDB='*' go mod download && go mod verify && go run .`;
  const output = inside('go', paths, script);
  expect(output).toContain('all modules verified');
  expect(output).toContain('from the module proxy');
});

/** A registry on the loopback of the container: it serves what is below /home/agent/www, and no archive. */
const SERVE = `cat > serve.mjs <<'END'
import { existsSync, readFileSync } from 'node:fs';
import http from 'node:http';
http.createServer((request, response) => {
  const file = '/home/agent/www' + request.url;
  response.statusCode = existsSync(file) ? 200 : 404;
  response.end(existsSync(file) ? readFileSync(file) : '');
}).listen(4873, '127.0.0.1');
END
node serve.mjs & sleep 2`;

it('cargo takes an archive from the cache, and only the index from the registry', async () => {
  const hex = sha('sha256', served('/static.crates.io/crates/tiny/tiny-1.0.0.crate'));
  const source = 'registry+https://github.com/rust-lang/crates.io-index';
  const lock = `version = 3\n\n[[package]]\nname = "tiny"\nversion = "1.0.0"\nsource = "${source}"\nchecksum = "${hex}"\n`;
  const paths = await fill('cargo', lock);
  // The registry is another, so its directory has another name: cargo makes it at its first attempt.
  const script = `mkdir -p www/index/ti/ny; echo '{"dl":"http://127.0.0.1:4873/dl"}' > www/index/config.json
echo '{"name":"tiny","vers":"1.0.0","deps":[],"cksum":"${hex}","features":{},"yanked":false}' > www/index/ti/ny/tiny
${SERVE}
mkdir -p c/src c/.cargo; cd c; touch src/lib.rs
printf '[package]\\nname = "c"\\nversion = "0.1.0"\\n[dependencies]\\ntiny = "1"\\n' > Cargo.toml
printf '[source.crates-io]\\nreplace-with = "mine"\\n[source.mine]\\nregistry = "sparse+http://127.0.0.1:4873/index/"\\n' > .cargo/config.toml
export RUSTC_BOOTSTRAP=1; cargo -Z sparse-registry fetch && echo WITHOUT
for index in ~/.cargo/registry/index/*; do mkdir -p ~/.cargo/registry/cache/\${index##*/}; ln -s ${insideDir('cargo')}/* ~/.cargo/registry/cache/\${index##*/}; done
cargo -Z sparse-registry fetch; cat ~/.cargo/registry/src/*/tiny-1.0.0/src/lib.rs; kill %1`;
  const output = inside('cargo', paths, script, []);
  expect(output).not.toContain('WITHOUT');
  expect(output).toContain('from the crates');
});

it('gradle takes a library from the cache where the registry names its SHA-1', async () => {
  const at = '/repo.maven.apache.org/maven2/test/lib/1.0';
  const artifact = (name: string): string =>
    `<artifact name="${name}"><sha256 value="${sha('sha256', served(`${at}/${name}`))}" origin="x"/></artifact>`;
  const component = `<component group="test" name="lib" version="1.0">${artifact('lib-1.0.jar')}${artifact('lib-1.0.pom')}</component>`;
  const paths = await fill(
    'gradle',
    `<verification-metadata><components>${component}</components></verification-metadata>`,
  );
  const script = `mkdir -p www/m2/test/lib/1.0; lib=~/.m2/repository/test/lib/1.0
cp $lib/lib-1.0.pom www/m2/test/lib/1.0; for f in pom jar; do sha1sum < $lib/lib-1.0.$f | cut -c1-40 | tr -d '\\n' > www/m2/test/lib/1.0/lib-1.0.$f.sha1; done
${SERVE}
mkdir g; cd g; echo > settings.gradle
echo 'repositories { maven { url "http://127.0.0.1:4873/m2" } }; configurations { x }; dependencies { x "test:lib:1.0" }; task show { doLast { configurations.x.each { println it.text } } }' > build.gradle
[ "$1" = bare ] && rm -r ~/.m2
gradle -g ~/gradle --no-daemon -q show; kill %1`;
  expect(inside('gradle', paths, script)).toContain('from the library');
  expect(inside('gradle', paths, script.replace('[ "$1" = bare ] &&', ''))).not.toContain('from the library');
});

it('pip installs a wheel of the cache by its hash, without an index', async () => {
  const file = '/files.pythonhosted.org/packages/tiny-1.0.0-py3-none-any.whl';
  const sha256 = sha('sha256', served(file));
  const found = { filename: path.basename(file), url: `${registry.url}${file}`, hashes: { sha256 } };
  registry.files.set('/pypi.org/simple/tiny/', Buffer.from(JSON.stringify({ files: [found] })));
  const lock = `tiny==1.0.0 --hash=sha256:${sha256}\n`;
  const paths = await fill('pip', lock);
  const script = `echo '${lock.trim()}' > requirements.txt; python3 -m venv v
v/bin/pip install --no-index --require-hashes -r requirements.txt && v/bin/python -c 'import tiny; print(tiny.word)'`;
  expect(inside('pip', paths, script)).toContain('from the wheel');
});
