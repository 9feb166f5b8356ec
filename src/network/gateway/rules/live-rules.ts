import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../../core/errors.ts';
import type { HostRule } from '../../../core/types/gateway.ts';
import { parseHostRule } from './host-rules.ts';

const FILE = 'network-allow.json';
const POLL_MS = 400;
const FROM = 'network allow';

/**
 * Allows a running session one more host: writes the rule into its directory, where its own process finds it.
 *
 * @throws {RunClaudeError} USAGE when the text is not a rule.
 */
export function allowHost(sessionDir: string, text: string): HostRule {
  const rule = parseHostRule(text, FROM);
  const file = path.join(sessionDir, FILE);
  const texts = [...new Set([...textsIn(file), text])];
  // Another command may write at the same time.
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, JSON.stringify(texts), { mode: 0o600 });
  renameSync(fresh, file);
  return rule;
}

/** A line that was edited by hand and is not a rule must not end a session. */
function rulesIn(file: string): readonly HostRule[] {
  return textsIn(file).flatMap((text) => {
    try {
      return [parseHostRule(text, FROM)];
    } catch (error) {
      if (error instanceof RunClaudeError) return [];
      throw error;
    }
  });
}

function textsIn(file: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  } catch {
    // Usually the file does not exist. A file that is not valid allows nothing.
    return [];
  }
}

/** Calls `take` with all rules whenever `network allow` has added one. Polls, because the state directory may be on NFS. */
export function watchAllowed(sessionDir: string, take: (rules: readonly HostRule[]) => void): () => void {
  const file = path.join(sessionDir, FILE);
  let known = 0;
  const poll = (): void => {
    const rules = rulesIn(file);
    if (rules.length === known) return;
    known = rules.length;
    take(rules);
  };
  const timer = setInterval(poll, POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
