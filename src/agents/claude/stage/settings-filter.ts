import { asObject, type JsonObject } from '../../../core/text/json-in.ts';

// Keys of settings.json that neither run, redirect nor reveal anything. All others stay on the host.
const PLAIN_KEYS = new Set(
  `model fallbackModel language outputStyle theme effortLevel alwaysThinkingEnabled showThinkingSummaries verbose
   viewMode editorMode spinnerTipsEnabled includeCoAuthoredBy attribution autoCompactEnabled respectGitignore
   prefersReducedMotion terminalProgressBarEnabled syntaxHighlightingDisabled fastMode plansDirectory
   autoMemoryEnabled promptSuggestionEnabled awaySummaryEnabled $schema`.split(/\s+/),
);

export interface FilteredSettings {
  readonly settings: JsonObject;
  /** Names of the keys that were left out, never their values. */
  readonly dropped: readonly string[];
}

/**
 * The harmless part of the user's settings.json: plain preferences, permission lists, enabled plugins. Hooks, helpers, the
 * status line, the environment and unknown keys are left out, and named.
 */
export function filterSettings(settings: JsonObject): FilteredSettings {
  const kept: JsonObject = {};
  const dropped: string[] = [];
  for (const [key, value] of Object.entries(settings)) {
    if (PLAIN_KEYS.has(key)) kept[key] = value;
    else if (key === 'permissions') {
      kept[key] = permissionLists(value);
      // The permission mode is among them: the policy and the command line choose it.
      const others = Object.keys(asObject(value) ?? {}).filter((name) => !LISTS.includes(name));
      dropped.push(...others.map((name) => `permissions.${name}`));
    } else if (key === 'enabledPlugins' && asObject(value) !== undefined) kept[key] = value;
    else dropped.push(key);
  }
  return { settings: kept, dropped };
}

const LISTS: readonly string[] = ['allow', 'ask', 'deny'];

function permissionLists(value: unknown): JsonObject {
  const lists: JsonObject = {};
  for (const name of LISTS) {
    const list = asObject(value)?.[name];
    if (Array.isArray(list)) lists[name] = list.filter((entry) => typeof entry === 'string');
  }
  return lists;
}
