import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { readSmallFile } from '../../core/host/files/small-file.ts';
import { withLock } from '../../core/store/lock.ts';
import { makePrivateDir, writeFileAtomic } from '../../core/store/record.ts';
import type { CommandContext } from '../context/context.ts';

/** How long a change waits for another one. */
const WAIT_MS = 10_000;

/** The user's configuration file. */
export const configFileOf = ({ places }: Pick<CommandContext, 'places'>): string =>
  path.join(places.configDir, 'config.toml');

/**
 * Replaces the text of the user's configuration file. It may be a link, to a folder of the user's own settings for instance:
 * the link stays.
 *
 * @throws {RunClaudeError} RECORD_UNWRITABLE, and what `change` throws.
 */
export async function changeConfig(
  context: Pick<CommandContext, 'places' | 'interruption'>,
  change: (text: string, file: string) => string,
): Promise<void> {
  const file = configFileOf(context);
  const lock = path.join(context.places.stateDir, 'config.lock');
  const options = { what: 'changing the configuration', waitMs: WAIT_MS, signal: context.interruption.signal };
  await withLock(lock, options, async () => {
    const before = readSmallFile(file, 'follow') ?? '';
    const after = change(before, file);
    if (after === before) return;
    makePrivateDir(path.dirname(file));
    writeFileAtomic(existsSync(file) ? realpathSync(file) : file, after);
  });
}
