import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, rootCertificates } from 'node:tls';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createCa, createHostCertificate } from '../../../images/gateway/certificate.mjs';
import { post } from '../../../src/core/host/https-request.ts';
import { extraCertificates } from '../../../src/environment/image/certificates.ts';
import { type DarwinPrograms, darwinPrograms } from '../../support/darwin/programs.ts';

const company = createCa(Date.now());
const sslOnly = createCa(Date.now());
const untrusted = createCa(Date.now());
const server = createHostCertificate(company, 'localhost', Date.now());
const print = (pem: string): string => new X509Certificate(pem).fingerprint256;
let darwin: DarwinPrograms;

beforeEach(() => {
  darwin = darwinPrograms();
  writeFileSync(join(darwin.state, 'System.keychain.pem'), `${rootCertificates[0]}\n${company.certificate}`);
  writeFileSync(
    join(darwin.state, 'login.keychain-db.pem'),
    `${sslOnly.certificate}${untrusted.certificate}${server.cert}-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n`,
  );
  const trusted = [`basic ${print(company.certificate)}`, `ssl ${print(sslOnly.certificate)}`];
  writeFileSync(join(darwin.state, 'trusted'), [...trusted, `ssl ${print(server.cert)}`].join('\n'));
});
afterEach(() => darwin[Symbol.dispose]());

it('takes the authorities of the Keychain that the Mac trusts into the image, on macOS only', () => {
  const without = extraCertificates({}, 'linux').map(({ content }) => content.toString().trim());
  const found = extraCertificates({}, 'darwin').map(({ content }) => content.toString().trim());
  const added = found.filter((pem) => !without.includes(pem));
  expect(added.toSorted()).toEqual([company.certificate.trim(), sslOnly.certificate.trim()].toSorted());
  expect(without).not.toContain(company.certificate.trim());
});

it('trusts them where the host itself refreshes a login', async () => {
  const listening = createTlsServer(server, (socket) => {
    socket.on('error', () => undefined);
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok');
  });
  listening.on('tlsClientError', () => undefined);
  await new Promise<void>((done) => listening.listen(0, 'localhost', done));
  try {
    const url = `https://localhost:${(listening.address() as AddressInfo).port}/`;
    const content = { type: 'text/plain', body: 'x' };
    expect(await post(url, content, {}, 10_000, 'darwin')).toMatchObject({ status: 200, body: 'ok' });
    await expect(post(url, content, {}, 10_000, 'linux')).rejects.toThrow(/certificate/);
  } finally {
    listening.close();
  }
});

it('works without `security`', () => {
  process.env['PATH'] = '/nonexistent';
  expect(extraCertificates({}, 'darwin')).toEqual(extraCertificates({}, 'linux'));
});
