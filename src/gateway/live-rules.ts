import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../errors.ts';
import type { HostRule } from '../types/gateway.ts';
import { parseHostRule } from './rules.ts';

const FILE = 'network-allow.json';
const LOOK_MS = 400;
const FROM = 'network allow';

/**
 * Lets a running session reach one more host: leaves the rule in its directory, where its own CLI finds it.
 *
 * @throws RunClaudeError USAGE when the text is no rule.
 */
export function allowHost(sessionDir: string, text: string): HostRule {
  const rule = parseHostRule(text, FROM);
  const file = path.join(sessionDir, FILE);
  const texts = [...new Set([...textsIn(file), text])];
  // Another command may do the same at this moment.
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, JSON.stringify(texts), { mode: 0o600 });
  renameSync(fresh, file);
  return rule;
}

/** One that somebody wrote there by hand and that is no rule must not end a session. */
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
    // Not there yet, which is the usual case; or not ours to understand, which allows nothing.
    return [];
  }
}

/** Calls back with all rules so far whenever `network allow` has added one. Looks by itself: state may be on NFS. */
export function watchAllowed(sessionDir: string, take: (rules: readonly HostRule[]) => void): () => void {
  const file = path.join(sessionDir, FILE);
  let known = 0;
  const look = (): void => {
    const rules = rulesIn(file);
    if (rules.length === known) return;
    known = rules.length;
    take(rules);
  };
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
