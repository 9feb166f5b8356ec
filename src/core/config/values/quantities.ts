const UNITS_MB: Readonly<Record<string, number>> = { m: 1, mb: 1, g: 1024, gb: 1024, t: 1_048_576, tb: 1_048_576 };
const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** '8g', '512m', '1.5g' as whole megabytes (2^20 bytes); undefined when it is not a size, or below one megabyte. */
export function parseSizeMb(text: string): number | undefined {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(mb?|gb?|tb?)$/i.exec(text);
  const unit = UNITS_MB[match?.[2]?.toLowerCase() ?? ''];
  if (match === null || unit === undefined) return undefined;
  const mb = Math.floor(Number(match[1]) * unit);
  return mb >= 1 ? mb : undefined;
}

/** A timer of Node counts milliseconds in 32 bits; a longer one would fire at once. */
const MAX_DURATION_MS = 24 * 86_400_000;

/** '90s', '30m', '2h', '1h30m' as milliseconds; undefined when it is not a duration, zero or longer than 24 days. */
export function parseDurationMs(text: string): number | undefined {
  if (!/^(\d{1,6}[smhd])+$/i.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of text.toLowerCase().matchAll(/(\d+)([smhd])/g)) {
    ms += Number(amount) * (UNITS_MS[unit ?? ''] ?? 0);
  }
  return ms > 0 && ms <= MAX_DURATION_MS ? ms : undefined;
}

/** Megabytes in words: '8g', '512m'. */
export function formatSizeMb(mb: number): string {
  return mb % 1024 === 0 && mb > 0 ? `${mb / 1024}g` : `${mb}m`;
}

/** Milliseconds in words: '1h30m'. */
export function formatDurationMs(ms: number): string {
  let left = Math.round(ms / 1000);
  let out = '';
  for (const [unit, seconds] of [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
  ] as const) {
    if (left >= seconds) out += `${Math.floor(left / seconds)}${unit}`;
    left %= seconds;
  }
  return left > 0 || out === '' ? `${out}${left}s` : out;
}

/** Of a test without `timeout`, and of `--test`. */
export const TEST_TIMEOUT_MS = 600_000;
