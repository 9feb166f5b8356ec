// Runs in the container, from stdin, for bench/gateway.mjs: the same requests directly to the server or, where the proxy
// variables are set, through the gateway. Prints one line of JSON.
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import process from 'node:process';
import tls from 'node:tls';

const HOST = 'bench.test';
const proxy = process.env['HTTPS_PROXY'];
const provider = process.env['ANTHROPIC_BASE_URL'] ?? 'https://provider.test';
/** @type {number[]} */
const fresh = [];
/** @type {number[]} */
const brokered = [];

/** A new TLS connection to the server. @returns {Promise<tls.TLSSocket>} */
function dial() {
  return new Promise((done, failed) => {
    const url = new URL(proxy ?? `https://${HOST}:443`);
    const socket = net.connect({ host: url.hostname, port: Number(url.port || 443), noDelay: true });
    const secure = () => {
      // Neither side verifies certificates: only the connection is measured.
      const over = tls.connect({ socket, servername: HOST, rejectUnauthorized: false }, () => done(over));
      over.once('error', failed);
    };
    socket.once('error', failed);
    if (proxy === undefined) secure();
    else {
      socket.write(`CONNECT ${HOST}:443 HTTP/1.1\r\nHost: ${HOST}:443\r\n\r\n`);
      socket.once('data', (head) => (String(head).includes(' 200 ') ? secure() : failed(new Error(String(head)))));
    }
  });
}

/** Milliseconds until the answer's first byte on its own connection. @param {string} path */
async function firstByte(path) {
  const start = performance.now();
  const socket = await dial();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`);
  await new Promise((done, failed) => socket.once('data', done).once('error', failed));
  const ms = performance.now() - start;
  socket.destroy();
  return ms;
}

const keep = provider.startsWith('https')
  ? new https.Agent({ keepAlive: true, rejectUnauthorized: false })
  : new http.Agent({ keepAlive: true });

/** Milliseconds until the first byte of a model's answer. @returns {Promise<number>} */
function firstEvent() {
  return new Promise((done, failed) => {
    const start = performance.now();
    const by = provider.startsWith('https') ? https : http;
    const out = by.request(`${provider}/v1/messages`, { method: 'POST', agent: keep }, (answer) => {
      /** @type {number | undefined} */
      let first;
      answer.on('data', () => {
        first ??= performance.now() - start;
      });
      answer.on('end', () => done(first ?? Number.NaN));
    });
    out.once('error', failed);
    out.end(
      JSON.stringify({
        model: 'claude-opus-5',
        stream: true,
        messages: [{ role: 'user', content: 'x'.repeat(200_000) }],
      }),
    );
  });
}

for (let round = 0; round < 60; round += 1) {
  fresh.push(await firstByte('/tiny'));
  brokered.push(await firstEvent());
}
const start = performance.now();
const many = await Promise.allSettled(Array.from({ length: 200 }, () => firstByte('/hold')));
const manyMs = performance.now() - start;
const served = many.filter((one) => one.status === 'fulfilled').length;
// The first requests load and compile code that later ones use.
process.stdout.write(`${JSON.stringify({ fresh: fresh.slice(10), brokered: brokered.slice(10), served, manyMs })}\n`);
process.exit();
