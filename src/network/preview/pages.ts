import type { ServerResponse } from 'node:http';

/**
 * A plain page of run-claude's own, in place of the session's. It ends the connection: the rest of the request is not
 * wanted.
 */
export function sendPage(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { socket } = response;
  response.once('finish', () => socket?.destroySoon());
  response.writeHead(status, { ...PAGE_HEADERS, Connection: 'close' });
  response.end(`${text}\n`);
}

/** The same, where the connection was about to be upgraded. */
export function plainAnswer(status: number, text: string): string {
  const body = `${text}\n`;
  const headers = Object.entries({ ...PAGE_HEADERS, Connection: 'close', 'Content-Length': String(body.length) });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${status} Refused\r\n${lines}\r\n${body}`;
}

const PAGE_HEADERS = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};

/** The hint after a refusal. It names neither session nor token: any page may have asked. */
export const REFUSED_HINT = 'Open the address that run-claude ports prints, from the address bar of the browser.';
