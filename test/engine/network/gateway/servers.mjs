// Runs in a container of the test's own, on the session's bridge: TLS on 443 and plain HTTP on 80 for every name that
// the container is called by. An npm registry, a Python index, a git server that wants a header, and a word of greeting.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import process from 'node:process';

const [wanted = ''] = process.argv.slice(2);
const tarball = readFileSync('/tmp/tiny.tgz');
const wheel = readFileSync('/tmp/tiny-1.0.0-py3-none-any.whl');

/** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
function git(request, response) {
  if (request.headers.authorization !== wanted) {
    response.writeHead(401).end('no');
    return;
  }
  const url = new URL(request.url ?? '/', 'https://git.test');
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: '/tmp/git',
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  request.pipe(child.stdin);
  /** @type {Buffer[]} */
  const parts = [];
  child.stdout.on('data', (part) => parts.push(part));
  child.on('close', () => {
    const all = Buffer.concat(parts);
    const end = all.indexOf('\r\n\r\n');
    const head = all.subarray(0, end).toString();
    const headers = Object.fromEntries(head.split('\r\n').map((line) => line.split(': ', 2)));
    response.writeHead(Number.parseInt(headers['Status'] ?? '200', 10), headers).end(all.subarray(end + 4));
  });
}

/** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
function serve(request, response) {
  const host = String(request.headers.host).split(':')[0];
  const path = request.url ?? '/';
  if (host === 'git.test' || host === 'repo.test') git(request, response);
  else if (host === 'api.test') {
    const isUser = request.headers.authorization === wanted;
    response.writeHead(isUser ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isUser ? { asked: `${request.method} ${path}` } : { message: 'no login' }));
  } else if (path === '/gh') response.end(readFileSync('/srv/gh'));
  else if (path === '/tiny') {
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    const dist = { tarball: 'https://registry.test/tiny.tgz', integrity };
    const versions = { '1.0.0': { name: 'tiny', version: '1.0.0', dist } };
    response.end(JSON.stringify({ name: 'tiny', 'dist-tags': { latest: '1.0.0' }, versions }));
  } else if (path === '/tiny.tgz') response.end(tarball);
  else if (path === '/simple/tiny/')
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<a href="/tiny-1.0.0-py3-none-any.whl">tiny-1.0.0-py3-none-any.whl</a>');
  else if (path.endsWith('.whl')) response.end(wheel);
  else response.end(`greetings from ${host}\n`);
}

https.createServer({ key: readFileSync('/srv/key.pem'), cert: readFileSync('/srv/cert.pem') }, serve).listen(443);
http.createServer(serve).listen(80, () => process.stdout.write('listening\n'));
