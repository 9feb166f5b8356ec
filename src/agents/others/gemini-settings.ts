import { join } from 'node:path';
import { asObject, type JsonObject, parseObject } from '../../core/text/json-in.ts';
import { ownValue } from '../../core/text/own-value.ts';
import type { CredentialSource } from '../../core/types/agent/credential.ts';
import { withoutPlain } from './acting-keys.ts';
import { readJson } from './token-login.ts';

/** Keys of settings.json, by section, that neither run, redirect nor reveal anything. All others stay on the host. */
const PLAIN_KEYS: Readonly<Record<string, ReadonlySet<string>>> = {
  general: new Set('vimMode previewFeatures defaultApprovalMode'.split(' ')),
  ui: new Set(
    `theme hideBanner hideTips hideFooter hideWindowTitle showLineNumbers showCitations accessibility showMemoryUsage
     showModelInfoInChat useFullWidth`.split(/\s+/),
  ),
  model: new Set('name maxSessionTurns compressionThreshold skipNextSpeakerCheck'.split(' ')),
};

/** What of a settings.json is not a plain preference; undefined where it is not an object. */
export function geminiOthers(text: string): JsonObject | undefined {
  const settings = parseObject(text);
  if (settings === undefined) return undefined;
  const sections = Object.entries(settings).map(([section, value]) => {
    const plain = ownValue(PLAIN_KEYS, section);
    const inner = asObject(value);
    return [section, plain === undefined || inner === undefined ? value : withoutPlain(inner, plain)] as const;
  });
  // A section of preferences alone is like none.
  return Object.fromEntries(sections.filter(([, value]) => JSON.stringify(value) !== '{}'));
}

/** The session's settings.json, and the names of the user's keys that it does not have. */
export async function geminiSettings(
  dir: string,
  source: CredentialSource | undefined,
): Promise<{ readonly text: string; readonly dropped: readonly string[] }> {
  const users = (await readJson(join(dir, 'settings.json'), '~/.gemini/settings.json')) ?? {};
  const dropped: string[] = [];
  const kept: Record<string, JsonObject> = {};
  for (const [section, value] of Object.entries(users)) {
    const known = ownValue(PLAIN_KEYS, section);
    const values = Object.entries(asObject(value) ?? {});
    kept[section] = Object.fromEntries(values.filter(([key]) => known?.has(key)));
    if (known === undefined) dropped.push(section);
    else for (const [key] of values) if (!known.has(key)) dropped.push(`${section}.${key}`);
  }
  const isLogin = source?.cloud?.api.kind === 'code-assist';
  const settings = {
    ...Object.fromEntries(Object.keys(PLAIN_KEYS).map((section) => [section, kept[section] ?? {}])),
    general: { ...kept['general'], enableAutoUpdate: false, enableAutoUpdateNotification: false },
    security: {
      auth: { selectedType: isLogin ? 'oauth-personal' : 'gemini-api-key' },
      // The container is the sandbox.
      folderTrust: { enabled: false },
    },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
  };
  return { text: JSON.stringify(settings, undefined, 2), dropped };
}
