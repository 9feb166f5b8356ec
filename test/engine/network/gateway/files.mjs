// Serves DIR/<host>/<path> by the Host header, over TLS on 443 and plain HTTP on 80.
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import process from 'node:process';

const [dir = ''] = process.argv.slice(2);

/** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
async function serve(request, response) {
  const host = String(request.headers.host).split(':')[0] ?? '';
  const file = path.join(dir, host, decodeURIComponent((request.url ?? '/').split('?')[0] ?? '/'));
  try {
    const bytes = await readFile(file);
    response.writeHead(200, { 'content-length': bytes.length }).end(request.method === 'HEAD' ? undefined : bytes);
  } catch {
    response.writeHead(404, { 'content-length': 0 }).end();
  }
}

const tls = { key: await readFile('/srv/key.pem'), cert: await readFile('/srv/cert.pem') };
/** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
const listener = (request, response) => void serve(request, response);
https.createServer(tls, listener).listen(443);
http.createServer(listener).listen(80, () => process.stdout.write('listening\n'));
