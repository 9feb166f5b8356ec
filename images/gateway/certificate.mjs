// The session's CA and its host certificates: X.509 v3 (RFC 5280) in DER, ECDSA P-256. Node can sign certificates, but not create them.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';

const DAYS = 24 * 3600 * 1000;

/** @param {number} tag @param {...Uint8Array} parts */
function der(tag, ...parts) {
  const body = Buffer.concat(parts);
  if (body.length < 128) return Buffer.concat([Buffer.of(tag, body.length), body]);
  const size = Buffer.from(body.length.toString(16).padStart(body.length > 255 ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.of(tag, 0x80 | size.length), size, body]);
}

/** @param {...Uint8Array} parts */
const sequence = (...parts) => der(0x30, ...parts);

/** @param {string} hex */
const oid = (hex) => der(6, Buffer.from(hex, 'hex'));

const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'));
const COMMON_NAME = '550403';
const BASIC_CONSTRAINTS = '551d13';
const KEY_USAGE = '551d0f';
const EXTENDED_KEY_USAGE = '551d25';
const SERVER_AUTH = '2b06010505070301';
const ALT_NAME = '551d11';
const SUBJECT_KEY = '551d0e';
const AUTHORITY_KEY = '551d23';

/** @param {string} name */
const distinguished = (name) => sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x0c, Buffer.from(name)))));

/** @param {number} ms */
const time = (ms) => der(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')}`));

/** @param {string} id @param {boolean} critical @param {Buffer} value */
const extension = (id, critical, value) =>
  sequence(oid(id), ...(critical ? [der(1, Buffer.of(0xff))] : []), der(4, value));

/** Names a key, for clients that insist on it (Python from 3.13 on). @param {import('node:crypto').KeyObject} publicKey */
const keyId = (publicKey) =>
  createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20);

/** @param {Buffer} certificate */
const pem = (certificate) =>
  `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;

/** @param {{ subject: string, publicKey: import('node:crypto').KeyObject, issuer: string,
 *   issuerKey: import('node:crypto').KeyObject, extensions: Buffer[], now: number }} parts */
function certificate({ subject, publicKey, issuer, issuerKey, extensions, now }) {
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const body = sequence(
    der(0xa0, der(2, Buffer.of(2))),
    der(2, serial),
    ECDSA_SHA256,
    distinguished(issuer),
    // Valid since two days ago: clocks differ.
    sequence(time(now - 2 * DAYS), time(now + 30 * DAYS)),
    distinguished(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', body, issuerKey);
  return pem(sequence(body, ECDSA_SHA256, der(3, Buffer.of(0), signature)));
}

/** A new CA for one session. Its name is unique, so that a client that trusts two of them finds the right one. @param {number} now @returns {import('../../src/core/types/gateway.ts').SessionCa} */
export function createCa(now) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = `run-claude session CA ${randomBytes(8).toString('hex')}`;
  const extensions = [
    extension(BASIC_CONSTRAINTS, true, sequence(der(1, Buffer.of(0xff)))),
    extension(KEY_USAGE, true, der(3, Buffer.of(1, 0x06))),
    extension(SUBJECT_KEY, false, der(4, keyId(publicKey))),
  ];
  return {
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    certificate: certificate({ subject: name, publicKey, issuer: name, issuerKey: privateKey, extensions, now }),
  };
}

/** A certificate for one host, with its own key. @param {import('../../src/core/types/gateway.ts').SessionCa} ca
 * @param {string} host @param {number} now @returns {{ key: string, cert: string }} */
export function createHostCertificate(ca, host, now) {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuerKey = createPrivateKey(ca.key);
  const extensions = [
    extension(EXTENDED_KEY_USAGE, false, sequence(oid(SERVER_AUTH))),
    extension(ALT_NAME, false, sequence(der(0x82, Buffer.from(host)))),
    extension(AUTHORITY_KEY, false, sequence(der(0x80, keyId(createPublicKey(issuerKey))))),
  ];
  const publicKey = createPublicKey(privateKey);
  const issuer = new X509Certificate(ca.certificate).subject.replace(/^CN=/, '');
  return {
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    cert: certificate({ subject: host.slice(0, 64), publicKey, issuer, issuerKey, extensions, now }),
  };
}
