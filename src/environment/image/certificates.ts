import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { keychainCertificates, PEM_CERTIFICATE } from '../../core/host/keychain-certificates.ts';
import type { ContextFile } from './files.ts';

const LOCAL_CERTIFICATES = '/usr/local/share/ca-certificates';
/** Debian's own, one file each. Node's list differs between its versions: with it alone the image's address would too. */
const PUBLIC_CERTIFICATES = '/usr/share/ca-certificates';

/**
 * The certificate authorities that this machine trusts beyond the public ones (a company's TLS proxy), one file each
 * because Debian's update-ca-certificates reads only the first of a file. Unreadable files are omitted: a build that
 * needs them fails at its download, with the reason.
 */
export function extraCertificates(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
  publicDirectory: string = PUBLIC_CERTIFICATES,
): readonly ContextFile[] {
  const bundle = env['NODE_EXTRA_CA_CERTS'];
  const local = certificatesIn([...(bundle ? [bundle] : []), ...filesBelow(LOCAL_CERTIFICATES)]);
  const own = [...local, ...keychainCertificates(platform)];
  // Most machines have none, and hashing all public ones takes time.
  if (own.length === 0) return [];
  const known = new Set([...rootCertificates, ...certificatesIn(filesBelow(publicDirectory))].map(fingerprint));
  const extra = new Map<string, string>();
  for (const pem of own) {
    const print = fingerprint(pem);
    if (!known.has(print)) extra.set(print, pem);
  }
  return [...extra.entries()]
    .sort()
    .map(([print, pem]) => ({ path: `ca/${print.slice(0, 16)}.crt`, content: Buffer.from(`${pem}\n`) }));
}

function fingerprint(pem: string): string {
  const der = Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
  return createHash('sha256').update(der).digest('hex');
}

function filesBelow(directory: string): readonly string[] {
  try {
    const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
    return names.filter((name) => name.endsWith('.crt')).map((name) => join(directory, name));
  } catch {
    return [];
  }
}

function certificatesIn(files: readonly string[]): readonly string[] {
  return files.flatMap((file) => readText(file).match(PEM_CERTIFICATE) ?? []);
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
