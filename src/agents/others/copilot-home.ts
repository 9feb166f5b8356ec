import { join } from 'node:path';
import { asObject, type JsonObject, parseObject } from '../../core/text/json-in.ts';
import { withoutPlain } from './acting-keys.ts';
import { readJson, textOf } from './token-login.ts';

/** Keys of settings.json that neither run, redirect nor reveal anything. All others stay on the host. */
const PLAIN_KEYS = new Set(
  `model theme banner bannerStyle beep compactPaste copyOnSelect includeCoAuthoredBy mouse renderMarkdown scrollbar
   screenReader showTipsOnStartup stream terminalProgress contextTier`.split(/\s+/),
);

/** What of a settings.json is not a plain preference; undefined where it is not an object. */
export function copilotOthers(text: string): JsonObject | undefined {
  const settings = parseObject(text);
  return settings && withoutPlain(settings, PLAIN_KEYS);
}

/** Copilot CLI's configuration directory on this host. */
export function copilotDir(env: NodeJS.ProcessEnv, home: string): string {
  return textOf(env['COPILOT_HOME']) ?? join(home, '.copilot');
}

/** The session's settings.json, and the names of the user's keys that it does not have. */
export async function copilotSettings(
  dir: string,
  workdir: string,
): Promise<{ readonly text: string; readonly dropped: readonly string[] }> {
  const users = (await readJson(join(dir, 'settings.json'), '~/.copilot/settings.json')) ?? {};
  const kept = Object.entries(users).filter(([key, value]) => PLAIN_KEYS.has(key) && asObject(value) === undefined);
  const dropped = Object.keys(users).filter((key) => !PLAIN_KEYS.has(key));
  const settings = {
    ...Object.fromEntries(kept),
    autoUpdate: false,
    // It is stored at the provider.
    memory: false,
    // The container is the sandbox.
    trustedFolders: [...new Set(['/workspace', workdir])],
  };
  return { text: JSON.stringify(settings, undefined, 2), dropped };
}
