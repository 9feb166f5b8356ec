import type { Price } from '../types/gateway.ts';

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
