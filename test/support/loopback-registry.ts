/**
 * A shell script that puts two packages, both `lib` 1.0.0, behind a registry for npm and pip at 127.0.0.1:4873, in the
 * current directory of a container. The registry runs as job 1.
 */
export const LOOPBACK_REGISTRY = `
mkdir lib && cd lib && printf '{"name":"lib","version":"1.0.0","bin":{"lib-npm":"run.js"},"scripts":{"postinstall":"node -e 0"}}' >package.json
printf 'module.exports = 7' >index.js && printf '#!/usr/bin/env node\\nconsole.log(7)' >run.js && npm pack --silent >/dev/null && cd ..
cat >serve.mjs <<'END'
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
const tgz = readFileSync('lib/lib-1.0.0.tgz');
const wheel = readFileSync('dist/lib-1.0.0-py3-none-any.whl');
const integrity = 'sha512-' + createHash('sha512').update(tgz).digest('base64');
http.createServer((request, response) => {
  const at = 'http://127.0.0.1:4873';
  if (request.url.endsWith('.tgz')) response.end(tgz);
  else if (request.url.endsWith('.whl')) response.end(wheel);
  else if (request.url.startsWith('/simple/')) response.setHeader('content-type', 'text/html').end('<a href="/lib-1.0.0-py3-none-any.whl">lib-1.0.0-py3-none-any.whl</a>');
  else response.setHeader('content-type', 'application/json').end(JSON.stringify({ name: 'lib', 'dist-tags': { latest: '1.0.0' },
    versions: { '1.0.0': { name: 'lib', version: '1.0.0', bin: { 'lib-npm': 'run.js' }, dist: { tarball: at + '/lib-1.0.0.tgz', integrity } } } }));
}).listen(4873, '127.0.0.1');
END
mkdir dist && python3 - <<'END'
import zipfile
with zipfile.ZipFile('dist/lib-1.0.0-py3-none-any.whl', 'w') as z:
    z.writestr('lib_seven.py', 'seven = 7\\ndef main(): print(seven)\\n')
    z.writestr('lib-1.0.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: lib\\nVersion: 1.0.0\\n')
    z.writestr('lib-1.0.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    z.writestr('lib-1.0.0.dist-info/entry_points.txt', '[console_scripts]\\nlib-pip = lib_seven:main\\n')
    z.writestr('lib-1.0.0.dist-info/RECORD', '')
END
node serve.mjs & for i in $(seq 100); do curl -fs http://127.0.0.1:4873/lib >/dev/null && break; sleep 0.1; done
`;
