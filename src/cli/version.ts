import { ownVersion, packageRoot } from '../core/host/package.ts';
import { pinnedClaudeVersion } from '../environment/image/pins/pins-file.ts';

/** The text of `run-claude --version`. */
export function versionText(): string {
  const claudeVersion = pinnedClaudeVersion(packageRoot);
  return `run-claude ${ownVersion()} (Claude Code ${claudeVersion}, Node ${process.versions.node})\n`;
}
