import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownVersion, packageRoot } from '../host/package.ts';
import { readPins } from '../image/pins.ts';
import { PINS_FILE, pinsOfImage } from '../image/pins-file.ts';

/** The text of `run-claude --version`. */
export function versionText(): string {
  const content = pinsOfImage(readFileSync(join(packageRoot, PINS_FILE)));
  const { claudeVersion } = readPins([{ path: PINS_FILE, content }]);
  return `run-claude ${ownVersion()} (Claude Code ${claudeVersion}, Node ${process.versions.node})\n`;
}
