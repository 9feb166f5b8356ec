import type { Entry } from '../../core/types/entry.ts';
import type { HostEntry } from './disk/host/host-entry.ts';

/** Changes on one path: as the session began (frozen), as it left it, and on the host now. */
export interface ThreeWay {
  readonly base: Entry | undefined;
  readonly session: Entry | undefined;
  readonly host: HostEntry | undefined;
  /** Undo: the "session" side is the host's own earlier state, and all bits of its mode count. */
  readonly trusted?: boolean;
}

export type Decision =
  /** The host is already as the session left it. */
  | { readonly kind: 'same' }
  /** Take the session's content; `mode` is what the result has. */
  | { readonly kind: 'take'; readonly mode: number }
  | { readonly kind: 'mode'; readonly mode: number }
  | { readonly kind: 'delete' }
  /** Both sides changed the content of a file, which is to be merged as text. */
  | { readonly kind: 'merge'; readonly mode: number }
  | { readonly kind: 'conflict'; readonly why: string };

const PERMISSIONS = 0o777;

/**
 * The three-way decision for one path. Pure. The host's edits win: whatever both sides changed differently and cannot
 * be merged by text is a conflict. Set-id and sticky bits are never taken from a session.
 */
export function decide({ base, session, host, trusted = false }: ThreeWay): Decision {
  const taken = (entry: Entry): number => entry.mode & (trusted ? 0o7777 : PERMISSIONS);
  if (session === undefined) return decideDelete(base, host, trusted);
  if (!isPlain(session)) return conflict('a session can only bring files, folders and symbolic links');
  if (host !== undefined && sameContent(session, host)) return decideMode(base, session, host);
  if (host === undefined) {
    return base === undefined ? { kind: 'take', mode: taken(session) } : conflict('deleted on the host');
  }
  if (!isPlain(host)) return conflict('the host has a special file here');
  if (base === undefined) return conflict('created on the host too, with other content');
  if (sameContent(base, host)) {
    const mode = session.kind === host.kind ? mergedMode(base, session, host) : taken(session);
    if (mode === undefined) return conflict('the mode was changed on the host too');
    return { kind: 'take', mode: trusted ? mode : withoutSetId(mode, session) };
  }
  if (base.kind === 'file' && session.kind === 'file' && host.kind === 'file') {
    if (sameContent(base, session)) return decideMode(base, session, host);
    const mode = mergedMode(base, session, host);
    return mode === undefined
      ? conflict('the mode was changed on the host too')
      : { kind: 'merge', mode: trusted ? mode : withoutSetId(mode, session) };
  }
  return conflict(host.kind === base.kind ? 'changed on the host' : 'of another kind on the host');
}

function decideDelete(base: Entry | undefined, host: HostEntry | undefined, isUndo: boolean): Decision {
  if (host === undefined) return { kind: 'same' };
  if (base === undefined) return conflict('created on the host');
  if (!sameContent(base, host))
    return conflict(isUndo ? 'edited since the apply' : 'edited on the host, deleted in the session');
  if (host.kind !== 'symlink' && host.kind !== 'dir' && permissions(base) !== permissions(host)) {
    const since = isUndo ? 'since the apply' : 'on the host, deleted in the session';
    return conflict(`its mode was changed ${since}`);
  }
  return { kind: 'delete' };
}

/** The content is the same on both sides: at most the mode has to change. */
function decideMode(base: Entry | undefined, session: Entry, host: HostEntry): Decision {
  if (session.kind === 'symlink' || permissions(session) === permissions(host)) return { kind: 'same' };
  // Created alike on both sides: the host's mode is kept.
  if (base === undefined) return { kind: 'same' };
  const mode = mergedMode(base, session, host);
  if (mode === undefined) return conflict('the mode was changed on the host too');
  return mode === (host.mode & 0o7777) ? { kind: 'same' } : { kind: 'mode', mode };
}

/** Permission bits by the same three-way rule, the host's set-id and sticky bits kept; undefined: both changed. */
function mergedMode(base: Entry, session: Entry, host: HostEntry): number | undefined {
  const special = host.mode & 0o7000;
  const [b, s, h] = [permissions(base), permissions(session), permissions(host)];
  if (s === b || s === h) return special | h;
  return h === b ? special | s : undefined;
}

/** As the kernel clears set-id bits on a write: new bytes run with the rights of whoever starts them. */
function withoutSetId(mode: number, { kind }: Entry): number {
  return kind === 'file' ? mode & ~0o6000 : mode;
}

/** Whether two entries hold the same, mode and times aside. Directories are alike by being directories. */
export function sameContent(a: HostEntry, b: HostEntry): boolean {
  if (a.kind !== b.kind) return false;
  if (a.kind === 'file') return a.digest !== undefined && a.digest === b.digest;
  return a.kind === 'symlink' ? a.target === b.target : a.kind === 'dir';
}

function isPlain(entry: HostEntry): boolean {
  return entry.kind === 'file' || entry.kind === 'dir' || entry.kind === 'symlink';
}

function permissions(entry: HostEntry): number {
  return entry.mode & PERMISSIONS;
}

function conflict(why: string): Decision {
  return { kind: 'conflict', why };
}
