import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PinnedPackage, Pins } from './pins-schema.ts';

// Every start computes the image's address, so nothing here loads the schema of the pins: the build checks them.

/** The file of all pins, by its path in the package. */
export const PINS_FILE = 'images/pins.json';

/**
 * The pins that an image is made of: all of the file but where images are published. That part names the digest of an
 * image, so it cannot be part of what the image's address is made from.
 */
export function pinsOfImage(content: Buffer): Buffer {
  const { published: _, ...pins } = JSON.parse(content.toString('utf8')) as Record<string, unknown>;
  return asFile(pins);
}

/** The version of Claude Code that a package of run-claude pins: `--version` prints it, and reads nothing more for it. */
export function pinnedClaudeVersion(root: string): string {
  return (JSON.parse(readFileSync(join(root, PINS_FILE), 'utf8')) as Pins).claudeVersion;
}

/** The pins with another release of Claude Code for that architecture. */
export function withClaudeRelease(content: Buffer, arch: string, release: PinnedPackage): Buffer {
  const pins = JSON.parse(content.toString('utf8')) as Pins;
  const packages = (pins.packages[arch] ?? []).map((pinned) => (pinned.file === release.file ? release : pinned));
  return asFile({ ...pins, claudeVersion: release.version, packages: { ...pins.packages, [arch]: packages } });
}

/** The release of Claude Code that is pinned for an architecture; undefined where there is none. */
export function pinnedClaude(content: Buffer, arch: string): PinnedPackage | undefined {
  const pins = JSON.parse(content.toString('utf8')) as Pins;
  return pins.packages[arch]?.find(({ version }) => version === pins.claudeVersion);
}

const asFile = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
