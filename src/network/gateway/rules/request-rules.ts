import { usageError } from '../../../core/errors.ts';
import type { RequestRule } from '../../../core/types/gateway.ts';

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** A part of a path, with at most one `*`. Percent-encoded characters stand for themselves. */
const SEGMENT =
  /^(?!\.{1,2}$)(?:[A-Za-z0-9._~!$'()+,=:@-]|%[0-9A-Fa-f]{2})*(?:\*(?:[A-Za-z0-9._~!$'()+,=:@-]|%[0-9A-Fa-f]{2})*)?$/;

/**
 * 'GET /repos/owner/name/**' as a rule. `*` stands for a part of one segment, `**` at the end for all below. GET includes
 * HEAD.
 *
 * @throws {RunClaudeError} USAGE for anything else
 */
export function parseRequestRule(text: string, from: string): RequestRule {
  const [, method = '', path = ''] = /^([A-Z]+) (\/\S*)$/.exec(text.trim()) ?? [];
  const segments = path.split('/').slice(1);
  const last = segments.length - 1;
  const isPlain = segments.every(
    (segment, index) =>
      (segment === '**' && index === last) || (SEGMENT.test(segment) && (segment !== '' || index === last)),
  );
  if (METHODS.includes(method) && path !== '' && isPlain) return { method, path };
  throw usageError(
    `${from}: '${text}' is not METHOD /path`,
    `For example 'GET /repos/owner/name/**'; methods: ${METHODS.join(', ')}.`,
  );
}
