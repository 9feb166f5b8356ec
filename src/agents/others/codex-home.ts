import { parse, stringify } from 'smol-toml';
import { asObject, type JsonObject } from '../../core/text/json-in.ts';
import type { CredentialSource } from '../../core/types/agent/credential.ts';
import { withoutPlain } from './acting-keys.ts';
import { codexConfig } from './codex-login.ts';

/** Keys of config.toml that neither run, redirect nor reveal anything. All others stay on the host. */
const PLAIN_KEYS = new Set(
  `model model_reasoning_effort model_reasoning_summary model_verbosity plan_mode_reasoning_effort personality
   hide_agent_reasoning show_raw_agent_reasoning file_opener service_tier review_model model_context_window
   model_auto_compact_token_limit project_doc_max_bytes project_doc_fallback_filenames`.split(/\s+/),
);
/** What Codex itself writes there in any session: which hints and screens it has shown, and how its screen looks. */
const OWN_TABLES: readonly string[] = ['notice', 'tui'];

/** What of a config.toml is not a plain preference. @throws where it is not TOML */
export function codexOthers(text: string): JsonObject {
  const others = Object.entries(withoutPlain(parse(text), PLAIN_KEYS));
  return Object.fromEntries(others.filter(([key]) => !OWN_TABLES.includes(key)));
}

/** Variable inside that has the placeholder. */
export const CODEX_KEY_VARIABLE = 'OPENAI_API_KEY';

/** The session's config.toml, and the names of the user's keys that it does not have. */
export async function codexSettings(
  dir: string,
  session: {
    readonly source: CredentialSource | undefined;
    readonly brokerUrl: string | undefined;
    readonly workdir: string;
  },
): Promise<{ readonly text: string; readonly dropped: readonly string[] }> {
  const users = await codexConfig(dir);
  const kept = Object.entries(users).filter(([key, value]) => PLAIN_KEYS.has(key) && asObject(value) === undefined);
  const dropped = Object.keys(users).filter((key) => !PLAIN_KEYS.has(key));
  const settings: JsonObject = {
    ...Object.fromEntries(kept),
    check_for_update_on_startup: false,
    // Its search opens any page that the model names, unless it reads the provider's own copies.
    web_search: 'cached',
    analytics: { enabled: false },
    feedback: { enabled: false },
    // The container is the sandbox. Without this Codex asks whether it may work here, and reads no AGENTS.md.
    projects: { '/workspace': { trust_level: 'trusted' }, [session.workdir]: { trust_level: 'trusted' } },
    ...(session.brokerUrl === undefined ? {} : brokered(session.brokerUrl, session.source)),
  };
  return { text: stringify(settings), dropped };
}

/** Codex's own name for what it sends to is kept: other providers get fewer of its features. */
function brokered(url: string, source: CredentialSource | undefined): JsonObject {
  const isChatgpt = source?.cloud?.api.kind === 'chatgpt';
  const provider = {
    name: 'OpenAI',
    base_url: isChatgpt ? url : `${url}/v1`,
    wire_api: 'responses',
    env_key: CODEX_KEY_VARIABLE,
    supports_websockets: false,
  };
  return { model_provider: 'run-claude', model_providers: { 'run-claude': provider } };
}
