import type { Report } from './schema.ts';

/** The report as JSON in plain ASCII: a terminal that shows it cannot be driven by a name of the session. */
export function jsonReport(report: Report): string {
  return `${asciiJson(report)}\n`;
}

/** JSON with everything outside printable ASCII as an escape; lone surrogates included, so nothing is lost. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
