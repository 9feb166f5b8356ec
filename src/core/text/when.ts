const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
// Fixed English names: the same words whatever the locale of the user is.
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/**
 * A time in everyday form, in the local time zone: 'just now', '3 min ago', 'today 14:03', 'yesterday 14:03',
 * '21 Nov 14:03', '21 Nov 2025'. `iso` is ISO 8601.
 */
export function whenText(iso: string, nowMs: number): string {
  const at = new Date(iso);
  const agoMs = nowMs - at.getTime();
  if (Number.isNaN(agoMs)) return 'at an unknown time';
  if (Math.abs(agoMs) < MINUTE_MS) return 'just now';
  if (agoMs > 0 && agoMs < HOUR_MS) return `${Math.floor(agoMs / MINUTE_MS)} min ago`;
  const now = new Date(nowMs);
  const clock = `${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`;
  if (isSameDay(at, now)) return `today ${clock}`;
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  if (isSameDay(at, yesterday)) return `yesterday ${clock}`;
  const day = `${at.getDate()} ${MONTHS[at.getMonth()]}`;
  return at.getFullYear() === now.getFullYear() ? `${day} ${clock}` : `${day} ${at.getFullYear()}`;
}

/** The local time of day: '14:03:21'. */
export function clockText(at: Date): string {
  return at.toTimeString().slice(0, 8);
}

/** How long something took: 'under 1 s', '45 s', '1 min 20 s', '12 min', '2 h 5 min'. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (ms < 1000) return 'under 1 s';
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return joined(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  return minutes >= 10 ? `${minutes} min` : joined(minutes, 'min', seconds % 60, 's');
}

function joined(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

function isSameDay(a: Date, b: Date): boolean {
  return a.getFullYear() === b.getFullYear() && a.getMonth() === b.getMonth() && a.getDate() === b.getDate();
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
