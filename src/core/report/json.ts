/**
 * A value as JSON over several lines, in plain ASCII: everything else is an escape, lone surrogates included. A terminal
 * that shows it cannot be driven by a name of the session, and nothing is lost.
 */
export function jsonText(value: unknown): string {
  return `${plain(JSON.stringify(value, undefined, 2))}\n`;
}

/** The same on one line, for one of many. */
export function jsonLine(value: unknown): string {
  return `${plain(JSON.stringify(value))}\n`;
}

function plain(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
