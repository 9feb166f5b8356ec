import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import path from 'node:path';
import { createServer } from 'node:tls';
import { openWatchedSocket, type WatchedSocket } from './watched-socket.ts';

export interface TlsFront {
  readonly host: string;
  /** Holds ca.pem, cert.pem and key.pem, as DOCKER_CERT_PATH wants them. */
  readonly certPath: string;
  readonly watched: WatchedSocket;
  close(): void;
}

/** The engine's own socket behind TLS with client certificates on a loopback port: an engine that is elsewhere, and binds nothing. */
export async function openTlsFront(dir: string): Promise<TlsFront> {
  mkdirSync(dir, { recursive: true });
  const watched = await openWatchedSocket(dir);
  const file = (name: string): string => path.join(dir, name);
  const openssl = (...words: string[]): void => {
    execFileSync('openssl', words, { stdio: 'ignore' });
  };
  const keyArgs = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...keyArgs,
    '-keyout',
    file('ca-key.pem'),
    '-out',
    file('ca.pem'),
    '-subj',
    '/CN=test ca',
    '-days',
    '2',
  );
  for (const [name, extra] of [
    ['server', 'subjectAltName=IP:127.0.0.1'],
    ['client', 'extendedKeyUsage=clientAuth'],
  ] as const) {
    openssl('req', ...keyArgs, '-keyout', file(`${name}-key.pem`), '-out', file(`${name}.csr`), '-subj', `/CN=${name}`);
    writeFileSync(file('ext'), `${extra}\n`);
    const signer = ['-CA', file('ca.pem'), '-CAkey', file('ca-key.pem'), '-CAcreateserial', '-days', '2'];
    openssl(
      'x509',
      '-req',
      '-in',
      file(`${name}.csr`),
      ...signer,
      '-extfile',
      file('ext'),
      '-out',
      file(`${name}.pem`),
    );
  }
  writeFileSync(file('cert.pem'), readFileSync(file('client.pem')));
  writeFileSync(file('key.pem'), readFileSync(file('client-key.pem')));
  const open = new Set<Socket>();
  const server = createServer(
    {
      key: readFileSync(file('server-key.pem')),
      cert: readFileSync(file('server.pem')),
      ca: readFileSync(file('ca.pem')),
      requestCert: true,
      rejectUnauthorized: true,
      allowHalfOpen: true,
    },
    (client) => {
      const engine = connect({ path: watched.socketPath, allowHalfOpen: true });
      for (const socket of [client, engine]) {
        open.add(socket);
        socket.on('close', () => open.delete(socket));
        socket.on('error', () => {
          client.destroy();
          engine.destroy();
        });
      }
      client.pipe(engine);
      engine.pipe(client);
    },
  );
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    host: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    certPath: dir,
    watched,
    close() {
      watched.close();
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
