/** What a hostile page asks for: other programs of the user's machine. */
export interface Targets {
  /** Addresses of this machine; each gets requests of every kind that a page can make. */
  readonly scanned: readonly string[];
}

/** What the page found out, as it tells its own server. */
export interface PageReport {
  readonly cookies: string;
  readonly socket: string;
  readonly events: string;
  /** The addresses of which a request was answered, each with its kind. */
  readonly reached: readonly string[];
}

/**
 * A server's program for `node -e`, on loopback: its page uses its own WebSocket and server-sent events, sets a cookie for
 * more than its host name, and scans. `GET /report` has what the page found out. `name` marks its requests.
 */
export function hostileServer(port: number, name: string, targets: Targets): string {
  return `
const http = require('node:http'), crypto = require('node:crypto');
let report = '', cookies = [];
const server = http.createServer((asked, response) => {
  if (asked.url === '/report' && asked.method === 'POST') {
    let text = '';
    asked.on('data', (bytes) => (text += bytes));
    return asked.on('end', () => { report = text; response.end(); });
  }
  if (asked.url === '/report') return response.end(report);
  if (asked.url === '/cookies') return response.end(JSON.stringify(cookies));
  cookies.push(asked.headers.cookie ?? '');
  if (asked.url === '/events') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write('data: first\\n\\n');
    return setTimeout(() => response.end('data: second\\n\\n'), 300);
  }
  response.writeHead(200, { 'Content-Type': 'text/html', 'Set-Cookie': ['own-${name}=1', 'wide-${name}=1; Domain=localhost'] });
  response.end(${JSON.stringify(`<!doctype html><title>${name}</title><script>(${pageScript})(${JSON.stringify(name)}, ${JSON.stringify(targets.scanned)})</script>`)});
});
server.on('upgrade', (asked, socket, head) => {
  const accept = crypto.createHash('sha1').update(asked.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n');
  socket.on('error', () => undefined);
  // One masked frame of a few bytes comes back without its mask. It may arrive in parts.
  let frame = head;
  socket.on('data', (bytes) => {
    frame = Buffer.concat([frame, bytes]);
    const length = frame[1] & 127;
    if (frame.length < 6 + length || (frame[0] & 15) !== 1) return;
    const text = Buffer.from(frame.subarray(6, 6 + length).map((byte, at) => byte ^ frame[2 + (at % 4)]));
    frame = frame.subarray(6 + length);
    socket.write(Buffer.concat([Buffer.from([129, length]), text]));
  });
});
server.listen(${port}, '127.0.0.1');
`;
}

/** Runs in the browser: it reports when everything has been answered, refused, or taken too long. */
const pageScript = `async (name, scanned) => {
  const within = (promise) => Promise.race([promise, new Promise((done) => setTimeout(done, 20000, 'nothing'))]);
  document.cookie = 'script-' + name + '=1';
  document.cookie = 'script-wide-' + name + '=1; domain=localhost';
  const socket = await within(new Promise((done) => {
    const one = new WebSocket('ws://' + location.host + '/socket');
    one.onopen = () => one.send('hello');
    one.onmessage = ({ data }) => done(data);
    one.onclose = ({ code }) => done('closed ' + code);
  }));
  const events = await within(new Promise((done) => {
    const one = new EventSource('/events'), got = [];
    one.onmessage = ({ data }) => { got.push(data); if (got.length === 2) { one.close(); done(got.join(' ')); } };
    one.onerror = () => { one.close(); done('failed'); };
  }));
  const reached = [];
  const element = (tag, where, attribute) => new Promise((done) => {
    const one = document.createElement(tag);
    if (tag === 'link') one.rel = 'stylesheet';
    one.onload = () => done(true);
    one.onerror = () => done(false);
    one[attribute] = where;
    document.documentElement.append(one);
  });
  const kinds = {
    fetch: (to) => fetch(to, { mode: 'no-cors', credentials: 'include' }).then(() => true, () => false),
    beacon: async (to) => { navigator.sendBeacon(to, 'x'); return false; },
    image: (to) => element('img', to, 'src'),
    script: (to) => element('script', to, 'src'),
    style: (to) => element('link', to, 'href'),
    frame: async (to) => { await element('iframe', to, 'src'); return false; },
    socket: (to) => new Promise((done) => {
      const one = new WebSocket(to.replace('http:', 'ws:'));
      one.onopen = () => done(true);
      one.onerror = () => done(false);
    }),
    events: (to) => new Promise((done) => {
      const one = new EventSource(to);
      one.onopen = () => { one.close(); done(true); };
      one.onerror = () => { one.close(); done(false); };
    }),
    form: async (to) => {
      const frame = document.createElement('iframe');
      frame.name = 'f' + Math.random();
      const form = document.createElement('form');
      Object.assign(form, { action: to, method: 'post', target: frame.name });
      document.documentElement.append(frame, form);
      form.submit();
      return false;
    },
  };
  const asked = scanned.flatMap((address) => Object.entries(kinds).map(async ([kind, ask]) => {
    const to = address + '/from-' + name + '/' + kind;
    try {
      if ((await within(ask(to))) === true) reached.push(kind + ' ' + address);
    } catch {
      // Refused before it was sent: not reached.
    }
  }));
  await Promise.all(asked);
  const report = { cookies: document.cookie, socket, events, reached };
  await fetch('/report', { method: 'POST', body: JSON.stringify(report) });
}`;
