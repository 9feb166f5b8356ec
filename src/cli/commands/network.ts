import { existsSync } from 'node:fs';
import { usageError } from '../../core/errors.ts';
import { jsonLine, jsonText } from '../../core/report/json.ts';
import { type HostTotal, networkLogFile, networkTotals, readNetworkLog } from '../../network/gateway/network-log.ts';
import { parseHostRule } from '../../network/gateway/rules/host-rules.ts';
import { allowHost } from '../../network/gateway/rules/live-rules.ts';
import { suggestRules } from '../../network/gateway/rules/suggest-rules.ts';
import { ownerState } from '../../session/record/session.ts';
import { cleanLine } from '../../terminal/clean.ts';
import type { CommandContext, CommandRun } from '../context/context.ts';
import { sessionOf } from '../sessions/session-of.ts';

/**
 * `network [ID]`: the requests of a session, by host. With `--suggest`: options that would allow the refused ones.
 * `network allow HOST [ID]`: lets a running session reach another host.
 */
export const networkCommand: CommandRun = async (line, context) => {
  const [first, second, third] = line.words;
  if (first === 'allow') return allow(second, third, context);
  if (second !== undefined)
    throw usageError(`network: unexpected '${cleanLine(second)}'`, 'To allow a host: run-claude network allow HOST');
  const session = sessionOf('network', first, context);
  const file = networkLogFile(session.plan.sessionDir);
  const entries = existsSync(file) ? readNetworkLog(file) : [];
  if (line.options.has('suggest')) {
    const { rules, remarks } = suggestRules(entries);
    context.write(line.options.has('json') ? jsonLine(rules) : rules.map((rule) => `${cleanLine(rule)}\n`).join(''));
    const lines = rules.length + remarks.length === 0 ? ['No request was refused.'] : remarks;
    for (const text of lines) context.tell({ kind: 'message', level: 'info', text: cleanLine(text) });
    return 0;
  }
  if (line.options.has('json')) {
    context.write(jsonText(entries));
    return 0;
  }
  const totals = networkTotals(session.plan.sessionDir);
  for (const total of totals) context.write(`${lineOf(total)}\n`);
  if (totals.length === 0)
    context.tell({ kind: 'message', level: 'info', text: 'The session sent no request to the gateway.' });
  return 0;
};

function allow(host: string | undefined, id: string | undefined, context: CommandContext): number {
  if (host === undefined) throw usageError('network allow: no host', 'Write run-claude network allow example.org.');
  // A wrong word is wrong for every session.
  parseHostRule(host, 'network allow');
  const session = sessionOf('network allow', id, context);
  if (ownerState(session) === 'ended') {
    throw usageError(
      `session ${session.id} has ended`,
      'For the next session: --allow-host, or allow-host in config.toml.',
    );
  }
  const rule = allowHost(session.plan.sessionDir, host);
  context.tell({ kind: 'message', level: 'info', text: `session ${session.id} may now reach ${rule.host}` });
  return 0;
}

function lineOf(total: HostTotal): string {
  const counts = [
    [total.passed, 'passed'],
    [total.refused, 'refused'],
    [total.failed, 'failed'],
  ] as const;
  const requests = counts.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])).join(', ');
  const bytes = total.up + total.down > 0 ? `, ${total.up} bytes out, ${total.down} in` : '';
  const refusal = total.unlisted ? 'not an allowed host' : total.why;
  const why = total.refused > 0 && refusal !== undefined ? `  (${cleanLine(refusal)})` : '';
  const calls = Object.entries(total.tools ?? {}).map(([tool, count]) => `${cleanLine(tool)} ${count}`);
  const tools = calls.length === 0 ? '' : `; tools called: ${calls.join(', ')}`;
  return `${cleanLine(total.host)}:${total.port}  ${requests}${bytes}${tools}${why}`;
}
