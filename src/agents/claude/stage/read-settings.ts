import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunClaudeError } from '../../../core/errors.ts';
import { type JsonObject, parseObject } from '../../../core/text/json-in.ts';

/** A program that writes the file anew needs a moment: it is read again after these times, together about a second. */
const RETRY_AFTER_MS = [20, 50, 130, 300, 500] as const;

/**
 * The user's settings. An absent file is an empty object, and so is one that stays empty. A file that is not a JSON object
 * may be half written, so it is read again for about a second.
 *
 * @throws {RunClaudeError} SETTINGS_UNREADABLE when it still cannot be read: it may have a deny list, without which no
 * session starts.
 */
export async function readSettings(file: string, shown: string): Promise<JsonObject> {
  let why = '';
  for (const pause of [0, ...RETRY_AFTER_MS]) {
    if (pause > 0) await sleep(pause);
    try {
      // Windows editors begin a file with a byte order mark.
      const text = (await readFile(file, 'utf8')).replace(/^\ufeff/, '');
      const settings = parseObject(text);
      if (settings !== undefined) return settings;
      why = text.trim() === '' ? '' : 'it is not a JSON object';
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return {};
      why = `the system says ${code}`;
    }
  }
  if (why === '') return {};
  throw new RunClaudeError('SETTINGS_UNREADABLE', `cannot read ${shown}: ${why}`, {
    hint: 'Its permission lists would be lost, so no session starts. Correct the file, or move it away.',
  });
}
