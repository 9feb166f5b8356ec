import { readFileSync } from 'node:fs';
import { CLAUDE_OPTIONS_OF } from './claude-options.ts';

/** The text of `run-claude --version`. */
export function versionText(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(text) as { readonly version: string };
  return `run-claude ${version} (options of Claude Code ${CLAUDE_OPTIONS_OF}, Node ${process.versions.node})\n`;
}
