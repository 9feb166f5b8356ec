import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CacheTools } from '../../../support/cache-tools.ts';
import { sha } from '../../../support/registry.ts';

// Tools of Debian over our image, without a network: each gets its package from a cache that was filled from a registry of
// the test's own, and compares it with the lock file itself.

let tools: CacheTools;

beforeAll(async () => {
  const packages = 'golang-go python3-venv cargo-web rustc-web gcc libc6-dev';
  tools = await CacheTools.open(packages, path.join(import.meta.dirname, 'packages.sh'));
});
afterAll(() => tools?.[Symbol.asyncDispose]());

const b64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');

it('go builds with a module of the cache, whose hash it counts itself', async () => {
  const at = '/proxy.golang.org/example.test/!tiny/@v/v1.0.0';
  const line = (content: string | Buffer, name: string): string => `${sha('sha256', content)}  ${name}\n`;
  const mod = sha('sha256', line(tools.served(`${at}.mod`), 'go.mod'));
  const text = 'package tiny\n\n// Word is from the module proxy.\nconst Word = "from the module proxy"\n';
  const top = 'example.test/Tiny@v1.0.0';
  const zip = sha(
    'sha256',
    line('', `${top}/a.txt`) + line(tools.served(`${at}.mod`), `${top}/go.mod`) + line(text, `${top}/tiny.go`),
  );
  const sum = `example.test/Tiny v1.0.0 h1:${b64(zip)}\nexample.test/Tiny v1.0.0/go.mod h1:${b64(mod)}\n`;
  const paths = await tools.fill('go', sum);
  const script = `mkdir x; cd x; printf 'module x\\n\\ngo 1.19\\n\\nrequire example.test/Tiny v1.0.0\\n' > go.mod
printf '${sum.replaceAll('\n', '\\n')}' > go.sum
printf 'package main\\n\\nimport tiny "example.test/Tiny"\\n\\nfunc main() { println(tiny.Word) }\\n' > main.go
GONOSUMDB='*' go mod download && go mod verify && go run .`;
  const output = tools.inside('go', paths, script);
  expect(output).toContain('all modules verified');
  expect(output).toContain('from the module proxy');
});

it('pip installs a wheel of the cache by its hash, without an index', async () => {
  const file = '/files.pythonhosted.org/packages/tiny-1.0.0-py3-none-any.whl';
  const sha256 = sha('sha256', tools.served(file));
  const found = { filename: path.basename(file), url: `${tools.registry.url}${file}`, hashes: { sha256 } };
  tools.registry.files.set('/pypi.org/simple/tiny/', Buffer.from(JSON.stringify({ files: [found] })));
  const lock = `tiny==1.0.0 --hash=sha256:${sha256}\n`;
  const paths = await tools.fill('pip', lock);
  const script = `echo '${lock.trim()}' > requirements.txt; python3 -m venv v
v/bin/pip install --no-index --require-hashes -r requirements.txt && v/bin/python -c 'import tiny; print(tiny.word)'`;
  expect(tools.inside('pip', paths, script)).toContain('from the wheel');
});

/** The project of a test: it needs a feature of `tiny` that brings an optional dependency. */
const CARGO_PROJECT = `mkdir -p c/src; cd c
printf '[package]\\nname = "c"\\nversion = "0.1.0"\\nedition = "2021"\\n[dependencies]\\ntiny = { version = "1", features = ["loud"] }\\n' > Cargo.toml
echo 'fn main() { println!("{}", tiny::word()) }' > src/main.rs`;

/** crates.io on the loopback of the container, with a certificate that cargo trusts. It prints each request. */
const CRATES_IO = `mkdir ~/tls; cd ~/tls
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out ca.pem -subj /CN=crates -days 2 \\
  -addext subjectAltName=DNS:index.crates.io,DNS:static.crates.io 2>/dev/null
cat > serve.mjs <<'END'
import { existsSync, readFileSync } from 'node:fs';
import https from 'node:https';
https.createServer({ key: readFileSync('key.pem'), cert: readFileSync('ca.pem') }, ({ url, headers: { host } }, response) => {
  const file = '/out/' + host + url.replace(/[/]([^/]+)[/]([^/]+)[/]download$/, '/$1/$1-$2.crate');
  console.log('asked for ' + host + url);
  response.statusCode = existsSync(file) ? 200 : 404;
  response.end(existsSync(file) ? readFileSync(file) : '');
}).listen(443, '127.0.0.1');
END
node serve.mjs & until curl -so /dev/null --cacert ca.pem https://index.crates.io/config.json; do sleep 0.1; done
export CARGO_HTTP_CAINFO=~/tls/ca.pem; cd ~`;

it('cargo builds without a network from the cache, and asks the registry for other crates only', async () => {
  const source = 'registry+https://github.com/rust-lang/crates.io-index';
  const locked = (name: string, more = ''): string => {
    const hex = sha('sha256', tools.served(`/static.crates.io/crates/${name}/${name}-1.0.0.crate`));
    return `[[package]]\nname = "${name}"\nversion = "1.0.0"\nsource = "${source}"\nchecksum = "${hex}"\n${more}\n`;
  };
  const own = '[[package]]\nname = "c"\nversion = "0.1.0"\ndependencies = [\n "tiny",\n]\n\n';
  const lock = `version = 4\n\n${own}${locked('leaf')}${locked('tiny', 'dependencies = [\n "leaf",\n]\n')}`;
  const paths = await tools.fill('cargo', lock);
  const project = `${CARGO_PROJECT}\ncat > Cargo.lock <<'END'\n${lock}END\n`;
  const build = `${project}cargo build --offline --locked && ./target/debug/c`;
  expect(tools.inside('cargo', paths, build)).toMatch(/^from the crates, LOUD$/m);
  expect(tools.inside('cargo', paths, build, { bare: true })).not.toContain('from the crates');

  const hosts = ['index.crates.io', 'static.crates.io'];
  const add = `${CRATES_IO}\n${project}cargo add other@1 && cargo build && ./target/debug/c; kill %1`;
  const online = tools.inside('cargo', paths, add, { hosts });
  expect(online).toMatch(/^from the crates, LOUD$/m);
  const asked = online.match(/static\.crates\.io\S+/g) ?? [];
  expect([...new Set(asked)]).toEqual(['static.crates.io/crates/other/1.0.0/download']);
});
