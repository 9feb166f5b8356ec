import { isIP } from 'node:net';
import { SUGGESTED_USES } from '../../../core/text/special-addresses.ts';
import type { NetworkEntry } from '../../../core/types/gateway.ts';

/** Options that would allow the refused requests of a session. */
export interface Suggestions {
  /** Options of the command line, sorted. */
  readonly rules: readonly string[];
  /** One sentence for each kind of refusal that no rule can change. */
  readonly remarks: readonly string[];
}

/** The gateway's message for a host whose address is not public (images/gateway/egress.mjs). */
const BY_ADDRESS = /^(\S+) resolves to ([0-9a-f.:]+) \(([^()]{1,40})\)/i;

/** Sorts the refusals by what would allow them: a host rule, an address rule, or nothing. */
export function suggestRules(entries: readonly NetworkEntry[]): Suggestions {
  const refused = entries.filter((entry) => entry.verdict === 'refused' && entry.quiet !== true);
  const rules = new Set<string>();
  const byAddress = new Map<string, { readonly text: string; count: number }>();
  const special = new Set<string>();
  let others = 0;
  for (const entry of refused) {
    const [, name, address = '', use = ''] = BY_ADDRESS.exec(entry.why ?? '') ?? [];
    if (entry.unlisted === true) rules.add(`--allow-host ${entry.host}${portOf(entry.port)}`);
    else if (name === entry.host && isIP(address) !== 0) {
      const text = `${name} (${address}, ${use})`;
      const known = byAddress.get(text) ?? { text, count: 0 };
      known.count += 1;
      byAddress.set(text, known);
      if (SUGGESTED_USES.has(use)) rules.add(`--allow-address ${address}`);
      else special.add(text);
    } else others += 1;
  }
  return {
    rules: [...rules].sort(),
    remarks: [...addressRemarks([...byAddress.values()], special), ...otherRemarks(others)],
  };
}

/** Limit of hosts in one sentence. */
const MAX_NAMED_HOSTS = 5;

function addressRemarks(
  hosts: ReadonlyArray<{ readonly text: string; readonly count: number }>,
  special: ReadonlySet<string>,
): string[] {
  const requests = (texts: typeof hosts): string =>
    requestCount(
      texts.reduce((sum, { count }) => sum + count, 0),
      'refused because the address is not public',
    );
  const named = (texts: typeof hosts): string => {
    const shown = texts.slice(0, MAX_NAMED_HOSTS).map(({ text }) => text);
    return [...shown, ...(texts.length > shown.length ? [`${texts.length - shown.length} more`] : [])].join(', ');
  };
  const allowable = hosts.filter(({ text }) => !special.has(text));
  const others = hosts.filter(({ text }) => special.has(text));
  return [
    ...(allowable.length === 0
      ? []
      : [
          `${requests(allowable)}: ${named(allowable)}. --allow-address lets the agent reach everything at that address.`,
        ]),
    ...(others.length === 0
      ? []
      : [`${requests(others)}: ${named(others)}. No option is suggested for such an address.`]),
  ];
}

function otherRemarks(count: number): string[] {
  return count === 0
    ? []
    : [`${requestCount(count, 'refused for a reason that no rule changes')}. run-claude network names the reason.`];
}

function requestCount(count: number, outcome: string): string {
  return `${count} ${count === 1 ? 'request was' : 'requests were'} ${outcome}`;
}

/** Ports 80 and 443 are part of every host rule. */
export function portOf(port: number): string {
  return port === 443 || port === 80 || port === 0 ? '' : `:${port}`;
}
