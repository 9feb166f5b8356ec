import { rmSync } from 'node:fs';
import path from 'node:path';
import { namesIn } from '../../core/host/files/names-in.ts';
import { processIdentity, processState } from '../../core/host/processes/process.ts';
import { fields, number, oneOf, parseRecord, type RecordFormat, text } from '../../core/store/parse-record.ts';
import { processIdentityCheck } from '../../core/store/process-identity.ts';
import { makePrivateDir, readJson, writeJsonAtomic } from '../../core/store/record.ts';
import type { ProcessIdentity, SessionRecord } from '../../core/types/session.ts';
import { isStoppable } from './find/pick-session.ts';
import { listSessions, ownerState } from './session.ts';

// A start that has chosen an engine has no record of its session yet, and other starts choose at the same time. Its claim
// counts until the session of its process has a record, or the process has ended.

interface Claim {
  readonly version: 1;
  /** The engine's name. */
  readonly on: string;
  readonly memoryMb: number;
  readonly holder: ProcessIdentity;
}

const CLAIM_FORMAT: RecordFormat<Claim> = {
  name: 'claim of an engine',
  version: 1,
  check: fields<Claim>({ version: oneOf(1), on: text, memoryMb: number, holder: processIdentityCheck }),
  hint: 'Remove the file.',
};

/** Sessions on engines that are known by a name. */
export interface EngineUse {
  /** Sessions that run there, and starts that chose the engine. */
  readonly sessions: number;
  /** What they may take together. */
  readonly memoryMb: number;
  /** Ids of the sessions that have a record. */
  readonly ids: readonly string[];
}

/** The directory of the claims. Its `lock` is held while an engine is chosen. */
export function claimsDir(stateDir: string): string {
  return path.join(stateDir, 'engine-claims');
}

/** Records that the session that this process starts will run on the engine. Returns a function that removes the claim. */
export function claimEngine(stateDir: string, on: string, memoryMb: number): () => void {
  const file = path.join(claimsDir(stateDir), `${process.pid}.json`);
  makePrivateDir(claimsDir(stateDir));
  const claim: Claim = { version: 1, on, memoryMb, holder: processIdentity() };
  writeJsonAtomic(file, claim);
  return () => rmSync(file, { force: true });
}

/** Who uses each engine, by `nameOf` a session's engine. Removes claims of processes that have ended. */
export function engineUse(
  stateDir: string,
  nameOf: (record: SessionRecord) => string | undefined,
): (name: string) => EngineUse {
  const running = listSessions(stateDir).sessions.filter(isOnEngine);
  const started = new Set(running.map(({ owner }) => owner?.pid));
  const claims = readClaims(stateDir).filter(({ holder }) => !started.has(holder.pid));
  return (name) => {
    const sessions = running.filter((record) => nameOf(record) === name);
    const starting = claims.filter(({ on }) => on === name);
    const memoryMb = [...sessions.map(({ plan }) => plan.policy.memoryMb), ...starting.map((one) => one.memoryMb)];
    return {
      sessions: sessions.length + starting.length,
      memoryMb: memoryMb.reduce((sum, one) => sum + one, 0),
      ids: sessions.map(({ id }) => id),
    };
  };
}

/** A folder next to a project shares the containers of its agent's session. */
function isOnEngine(record: SessionRecord): boolean {
  return isStoppable(record) && record.plan.besideSession === undefined && ownerState(record) !== 'ended';
}

function readClaims(stateDir: string): readonly Claim[] {
  const dir = claimsDir(stateDir);
  // No start has chosen an engine where there is no directory.
  const files = namesIn(dir).filter((name) => name.endsWith('.json'));
  return files.flatMap((name) => {
    const file = path.join(dir, name);
    const claim = readClaim(file);
    if (claim === undefined) return [];
    if (processState(claim.holder) !== 'ended') return [claim];
    rmSync(file, { force: true });
    return [];
  });
}

/** Undefined for a claim that was removed, and for one that cannot be read: it only counts sessions. */
function readClaim(file: string): Claim | undefined {
  try {
    return parseRecord(readJson(file), CLAIM_FORMAT, file);
  } catch {
    return undefined;
  }
}
