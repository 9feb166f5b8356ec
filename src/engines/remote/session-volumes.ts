import { RunClaudeError } from '../../core/errors.ts';
import type { FoundObject } from '../../core/types/engine.ts';

const SESSION_ID = /\d{6}-\d{6}-[2-9b-z]{3}/;

/** The id of a session that a name of run-claude's has in it; undefined where it has none. */
export function sessionIdOf(name: string): string | undefined {
  return SESSION_ID.exec(name)?.[0];
}

/**
 * The session of a volume, by its label or its name.
 *
 * @throws {RunClaudeError} USAGE when neither names a session: only sessions have volumes there
 */
export function requireSessionId(name: string, labels: Readonly<Record<string, string>> = {}): string {
  const id = labels['run-claude.session'] ?? sessionIdOf(name);
  if (id === undefined) throw new RunClaudeError('USAGE', `no session has a volume like ${name}`, { status: 2 });
  return id;
}

/** A volume of a session, as an engine would list it. */
export function volumeObject(name: string, sessionId: string, createdMs: number): FoundObject {
  return { kind: 'volume', id: name, name, labels: { 'run-claude.session': sessionId }, running: false, createdMs };
}
