import type { ProviderApi } from '../../core/types/agent/credential.ts';
import type { Price } from '../../core/types/gateway.ts';

const price = (model: string, input: number, output: number, longDearer = false): Price => ({
  model,
  input,
  output,
  cacheRead: input / 10,
  cacheWrite: input * 1.25,
  cacheWriteHour: input * 2,
  longDearer,
});

/**
 * List prices in US dollars for a million tokens (platform.claude.com, "Model pricing", October 2026), by prefix of
 * the model's name: the longest match counts, and an unknown model counts as the most expensive. Where a model has two
 * prices (an introductory one, or Sonnet 5's and 5.5's) the table has the higher one. Not included: batch and priority
 * tiers, faster modes, regional surcharges.
 */
export const PRICES: readonly Price[] = [
  price('claude-fable', 10, 50),
  price('claude-mythos', 10, 50),
  price('claude-opus-5', 5, 25),
  price('claude-opus-4', 15, 75),
  price('claude-opus-4-5', 5, 25),
  price('claude-opus-4-6', 5, 25),
  price('claude-opus-4-7', 5, 25),
  price('claude-opus-4-8', 5, 25),
  price('claude-sonnet-5', 3, 15),
  price('claude-sonnet-4', 3, 15, true),
  price('claude-sonnet-4-6', 3, 15),
  price('claude-haiku-5', 1, 5),
  price('claude-haiku-4', 1, 5),
  price('claude-3-5-haiku', 0.8, 4),
  price('claude-3-haiku', 0.25, 1.25),
  price('claude-3-7-sonnet', 3, 15),
];

/**
 * OpenAI and Google charge nothing for writing to their caches. A word after a name is another model there, often a
 * dearer one, so that these rows count for the whole name.
 */
const otherPrice = (model: string, input: number, cacheRead: number, output: number, longDearer = false): Price => ({
  model,
  exact: true,
  input,
  output,
  cacheRead,
  cacheWrite: input,
  cacheWriteHour: input,
  longDearer,
});

/** The row of the models that have none: as dear as the dearest of that provider, so that a budget never lets more pass. */
const OTHER_MODELS = '*';

/** As {@link PRICES}, from OpenAI's list ("Pricing", standard tier, October 2026). The last is for all other models. */
const OPENAI_PRICES: readonly Price[] = [
  otherPrice('gpt-6.1-sol', 2, 0.2, 10, true),
  otherPrice('gpt-6-sol', 2, 0.2, 10, true),
  otherPrice('gpt-6-luna', 0.1, 0.01, 0.5, true),
  otherPrice('gpt-5.4', 2.5, 0.25, 15, true),
  otherPrice('gpt-5.4-mini', 0.75, 0.075, 4.5),
  otherPrice('gpt-5.3-codex', 1.75, 0.175, 14),
  otherPrice('gpt-5.2', 1.75, 0.175, 14),
  otherPrice('gpt-5.2-codex', 1.75, 0.175, 14),
  otherPrice('gpt-5.1', 1.25, 0.125, 10),
  otherPrice('gpt-5.1-codex', 1.25, 0.125, 10),
  otherPrice('gpt-5.1-codex-max', 1.25, 0.125, 10),
  otherPrice('gpt-5', 1.25, 0.125, 10),
  otherPrice('gpt-5-mini', 0.25, 0.025, 2),
  otherPrice('gpt-5-nano', 0.05, 0.005, 0.4),
  otherPrice('gpt-5-codex', 1.25, 0.125, 10),
  otherPrice('gpt-5-pro', 15, 15, 120),
  otherPrice(OTHER_MODELS, 150, 150, 600),
];

/** As {@link PRICES}, from Google's list ("Gemini Developer API pricing", October 2026), without its temporary discounts. */
const GEMINI_PRICES: readonly Price[] = [
  otherPrice('gemini-3.8-flash', 1.5, 0.15, 7.5),
  otherPrice('gemini-3.7-flash', 1.5, 0.15, 7.5),
  otherPrice('gemini-3.6-flash', 1.5, 0.15, 7.5),
  otherPrice('gemini-3.5-flash', 1.5, 0.15, 9),
  otherPrice('gemini-3.5-flash-lite', 0.3, 0.03, 2.5),
  otherPrice('gemini-3.1-pro', 2, 0.2, 12, true),
  otherPrice('gemini-3.1-flash-lite', 0.25, 0.025, 1.5),
  otherPrice('gemini-3-pro', 2, 0.2, 12, true),
  otherPrice('gemini-3-flash', 0.5, 0.05, 3),
  otherPrice('gemini-2.5-pro', 1.25, 0.125, 10, true),
  otherPrice('gemini-2.5-flash', 0.3, 0.03, 2.5),
  otherPrice('gemini-2.5-flash-lite', 0.1, 0.01, 0.4),
  otherPrice(OTHER_MODELS, 20, 20, 120, true),
];

/** Models of all three: one that none of them lists is as dear as the dearest. */
const COPILOT_PRICES: readonly Price[] = [
  ...PRICES,
  ...GEMINI_PRICES.filter(({ model }) => model !== OTHER_MODELS),
  ...OPENAI_PRICES,
];

/** The prices of the models behind an API. */
export function pricesOf(api: ProviderApi | undefined): readonly Price[] {
  if (api?.kind === 'openai' || api?.kind === 'chatgpt') return OPENAI_PRICES;
  if (api?.kind === 'copilot') return COPILOT_PRICES;
  return api?.kind === 'gemini' || api?.kind === 'code-assist' ? GEMINI_PRICES : PRICES;
}
