import { ownVersion } from '../types/package.ts';
import { CLAUDE_OPTIONS_OF } from './claude-options.ts';

/** The text of `run-claude --version`. */
export function versionText(): string {
  return `run-claude ${ownVersion()} (options of Claude Code ${CLAUDE_OPTIONS_OF}, Node ${process.versions.node})\n`;
}
