import { generateKeyPairSync, randomBytes, randomInt } from 'node:crypto';
import { opensshKey } from '../../../core/secrets/openssh-key.ts';
import type { Decoy } from '../../../core/types/secret/decoy.ts';
import type { PlaceEntry } from '../../../engines/engine/place.ts';
import { readHomeDecoys, rememberHomeDecoys } from '../../record/secrets/home-decoys.ts';

/** A credential of the agent's home that opens nothing. */
interface HomeDecoy {
  /** Of the file, in the home. */
  readonly path: string;
  readonly name?: string;
  /** A new value of the kind. */
  readonly make: () => string;
  /** The file that has the value. */
  readonly fileOf: (value: string) => string;
}

/**
 * Programs do not use them by themselves, but for a key that an ssh client offers: the profile of the cloud is not the
 * default one, and git reads stored logins only with a helper that is configured.
 */
const HOME_DECOYS: readonly HomeDecoy[] = [
  { path: '.ssh/id_ed25519', make: privateKey, fileOf: (key) => key },
  {
    path: '.aws/credentials',
    name: 'aws_secret_access_key',
    make: () => textOf(40, `${LETTERS}${LETTERS.toLowerCase()}0123456789+/`),
    fileOf: (secret) =>
      `[deploy]\naws_access_key_id = AKIA${textOf(16, `${LETTERS}234567`)}\naws_secret_access_key = ${secret}\n`,
  },
  {
    path: '.git-credentials',
    name: 'github.com',
    make: () => `ghp_${textOf(36, `${LETTERS}${LETTERS.toLowerCase()}0123456789`)}`,
    fileOf: (token) => `https://deploy:${token}@github.com\n`,
  },
];

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/**
 * The entries of the decoys in the agent's home, with those of an earlier run of the session, and records their values.
 * None where something is staged in the same folder, or at the same path.
 */
export function homeDecoys(sessionDir: string, staged: readonly Pick<PlaceEntry, 'path'>[]): readonly PlaceEntry[] {
  const known = new Map(readHomeDecoys(sessionDir).map(({ path, value }) => [path, value]));
  const tops = new Set(staged.map(({ path }) => path.split('/')[0]));
  const free = HOME_DECOYS.filter(({ path }) => !tops.has(path.split('/')[0]));
  const made = free.map((one) => ({ ...one, value: known.get(`~/${one.path}`) ?? one.make() }));
  rememberHomeDecoys(
    sessionDir,
    made.map(({ path, name, value }): Decoy => ({ path: `~/${path}`, ...(name === undefined ? {} : { name }), value })),
  );
  return made.flatMap(({ path, value, fileOf }): PlaceEntry[] => {
    const [folder = '', file] = path.split('/');
    const own: PlaceEntry = { path, mode: 0o600, content: Buffer.from(fileOf(value)) };
    return file === undefined ? [own] : [{ path: folder, mode: 0o700, content: 'directory' }, own];
  });
}

function textOf(length: number, alphabet: string): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}

/** A new Ed25519 key in OpenSSH's own form. */
function privateKey(): string {
  const key = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const lines =
    opensshKey(key, randomBytes(4), 'deploy@build')
      ?.toString('base64')
      .match(/.{1,70}/g) ?? [];
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n');
}
