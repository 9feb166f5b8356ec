import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { spawnSync } from './programs/start-program.ts';

/** A certificate in PEM, from a text that may hold several. */
export const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

const SECURITY_TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 1 << 24;
/** The keychains of the administrator and of the user. Apple's own roots are public ones, which the image has. */
const keychains = (): readonly string[] => [
  '/Library/Keychains/System.keychain',
  join(homedir(), 'Library/Keychains/login.keychain-db'),
];

/**
 * The certificate authorities in the macOS Keychain that this Mac trusts for TLS and that are not public ones: those of
 * a company's proxy. In PEM; empty on another platform, and where `security` does not answer.
 */
export function keychainCertificates(platform: NodeJS.Platform): readonly string[] {
  if (platform !== 'darwin') return [];
  const listed = spawnSync('security', ['find-certificate', '-a', '-p', ...keychains()], {
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
    timeout: SECURITY_TIMEOUT_MS,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  const authorities = new Map<string, string>();
  for (const pem of (listed.stdout ?? '').match(PEM_CERTIFICATE) ?? []) {
    const certificate = parse(pem);
    if (certificate?.ca === true) authorities.set(certificate.fingerprint256, pem);
  }
  if (authorities.size === 0) return [];
  for (const pem of rootCertificates) authorities.delete(new X509Certificate(pem).fingerprint256);
  return [...authorities.values()].filter(isTrusted);
}

function parse(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** A certificate in a keychain may be untrusted there: Mail and Safari store others that they have met. */
function isTrusted(pem: string): boolean {
  const dir = mkdtempSync(join(tmpdir(), 'run-claude-ca-'));
  try {
    const file = join(dir, 'ca.pem');
    writeFileSync(file, `${pem}\n`);
    // -l: it is an authority itself. -L: no network. Its trust may be set for TLS only, or its validity be too long for
    // a server's certificate.
    return ['ssl', 'basic'].some((policy) => {
      const words = ['verify-cert', '-c', file, '-l', '-L', '-q', '-p', policy];
      return spawnSync('security', words, { stdio: 'ignore', timeout: SECURITY_TIMEOUT_MS }).status === 0;
    });
  } finally {
    rmSync(dir, { recursive: true });
  }
}
