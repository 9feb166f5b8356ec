import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownVersion, packageRoot } from '../core/host/package.ts';
import { readPins } from '../environment/image/pins.ts';
import { PINS_FILE, pinsOfImage } from '../environment/image/pins-file.ts';

/** The text of `run-claude --version`. */
export function versionText(): string {
  const content = pinsOfImage(readFileSync(join(packageRoot, PINS_FILE)));
  const { claudeVersion } = readPins([{ path: PINS_FILE, content }]);
  return `run-claude ${ownVersion()} (Claude Code ${claudeVersion}, Node ${process.versions.node})\n`;
}
