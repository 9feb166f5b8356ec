import { readImageFiles } from '../image/files.ts';
import { readPins } from '../image/pins.ts';
import { ownVersion, packageRoot } from '../types/package.ts';

/** The text of `run-claude --version`. */
export function versionText(): string {
  const { claudeVersion } = readPins(readImageFiles(packageRoot));
  return `run-claude ${ownVersion()} (Claude Code ${claudeVersion}, Node ${process.versions.node})\n`;
}
