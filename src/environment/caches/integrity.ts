import type { Archive } from './ecosystem.ts';

/** The strong hash in a Subresource Integrity text: 'sha1-… sha512-…'; undefined where there is none. */
export function hashOfIntegrity(integrity: unknown): Archive['hash'] | undefined {
  if (typeof integrity !== 'string') return undefined;
  const found = /(?:^|\s)sha512-([A-Za-z0-9+/]{86}==)(?:\s|$)/.exec(integrity)?.[1];
  return found === undefined ? undefined : { name: 'sha512', hex: Buffer.from(found, 'base64').toString('hex') };
}
