import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
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
  writeFileSync(`${file}.new`, JSON.stringify(texts), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return rule;
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
    const texts = textsIn(file);
    if (texts.length === known) return;
    known = texts.length;
    take(texts.map((text) => parseHostRule(text, FROM)));
  };
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
