import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownVersion, packageRoot } from '../host/package.ts';
import { readPins } from '../image/pins.ts';

/** The text of `run-claude --version`. */
export function versionText(): string {
  const path = 'images/pins.json';
  const { claudeVersion } = readPins([{ path, content: readFileSync(join(packageRoot, path)) }]);
  return `run-claude ${ownVersion()} (Claude Code ${claudeVersion}, Node ${process.versions.node})\n`;
}
