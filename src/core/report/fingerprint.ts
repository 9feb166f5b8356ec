import { createHash } from 'node:crypto';
import type { ReportedFinding } from './schema.ts';

/** What makes a finding the same one in the next run, wherever its line has moved to: SHA-256, in hexadecimal. */
export function fingerprintOf({ rule, path, detail = '' }: Pick<ReportedFinding, 'rule' | 'path' | 'detail'>): string {
  const what = detail.replaceAll(/\bline \d+: /g, '');
  return createHash('sha256').update(`${rule}\0${path}\0${what}`).digest('hex');
}
