import { readFileSync } from 'node:fs';
import { auditChanges } from '../../../src/audit/audit.ts';
import type { AuditInput, BaseReader } from '../../../src/audit/input.ts';
import type { RelPath } from '../../../src/core/text/path.ts';
import type { Change, Entry } from '../../../src/core/types/entry.ts';
import type { Finding } from '../../../src/core/types/finding.ts';
import type { Files, Planted, Row } from './rows.ts';

/** Judges files as a session's changes: see {@link plantFiles}. */
export function auditFiles(...planted: Parameters<typeof plantFiles>): Finding[] {
  return auditChanges(plantFiles(...planted));
}

/**
 * Files as a session's changes; a fixture that bytes cannot describe is given by its entry. `base`: files of the project,
 * `links`: its symbolic links, `reader`: replaces how the base is read.
 */
export function plantFiles(
  files: Files,
  base: Row['base'] = {},
  links: Readonly<Record<string, string>> = {},
  reader: Partial<BaseReader> = {},
): AuditInput {
  const contents = new Map<string, Buffer>();
  const changes = Object.entries(files).map(([path, planted]) => changeOf(path, planted, contents));
  return {
    changes,
    content: (digest) => contents.get(digest),
    base: {
      paths: [...Object.keys(base), ...Object.keys(links)],
      linkTarget: (path) => links[path],
      read: (path) => (base[path] === undefined ? undefined : Buffer.from(base[path])),
      ...reader,
    },
    endedNs: '2000000000000000000',
    maxPathBytes: 3900,
    pathFolders: ['in-path/bin'],
  };
}

/** Whether there is a finding that is not a note. */
export const isLoud = (...planted: Parameters<typeof auditFiles>): boolean =>
  auditFiles(...planted).some(({ severity }) => severity !== 'note');

/** A file with one JSON text a line. */
export const readLines = <T>(file: URL): T[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);

const MINUTE = '1999999999000000000';

function changeOf(path: string, planted: Planted, contents: Map<string, Buffer>): Change {
  const file = (bytes: Buffer, mode = 0o644): Entry => {
    const digest = bytes.toString('latin1');
    contents.set(digest, bytes);
    return { kind: 'file', mode, size: bytes.length, mtimeNs: MINUTE, digest };
  };
  const put = (before: Entry | undefined, after: Entry | undefined, more: object = {}): Change => ({
    path: path as RelPath,
    kind: before === undefined ? 'created' : after === undefined ? 'deleted' : 'modified',
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    ...(/(^|\/)\.git(\/|$)/.test(path) ? { inGit: true } : {}),
    ...more,
  });
  const text = (one: string | null | undefined): Entry | undefined =>
    one === null || one === undefined ? undefined : file(Buffer.from(one));
  if (typeof planted === 'string') return put(undefined, text(planted));
  if (Array.isArray(planted)) return put(text(planted[0]), text(planted[1]));
  if ('link' in planted)
    return put(undefined, { kind: 'symlink', mode: 0o777, size: 0, mtimeNs: MINUTE, target: planted.link });
  if ('special' in planted) return put(undefined, { kind: planted.special, mode: 0o644, size: 0, mtimeNs: MINUTE });
  if ('bytes' in planted) {
    const bytes = Buffer.from(planted.bytes, 'latin1');
    const after = file(bytes, planted.mode);
    return planted.was === undefined
      ? put(undefined, after)
      : put({ ...after, mode: planted.was }, after, { kind: 'mode' });
  }
  if (!('more' in planted)) throw new TypeError(`no fixture: ${path}`);
  const { after: extra, ...more } = planted.more as { after?: Partial<Entry> };
  if (extra === undefined && 'kind' in more && more.kind === 'dir')
    return put(undefined, { kind: 'dir', mode: 0o755, size: 0, mtimeNs: MINUTE });
  return put(undefined, { ...file(Buffer.from(planted.text ?? '')), ...extra }, more);
}
