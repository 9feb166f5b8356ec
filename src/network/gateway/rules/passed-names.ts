import { usageError } from '../../../core/errors.ts';
import type { BrokeredHost, PassedAlso } from '../../../core/types/gateway.ts';
import type { PassedNames } from '../../../core/types/policy.ts';

const PARAMETER = /^[A-Za-z0-9$_.~-]{1,80}$/;
const HEADER = /^[A-Za-z0-9_-]{1,80}$/;
const CONTENT_TYPE = /^[\w.+-]{1,80}\/[\w.+-]{1,80}$/;
/** Of the connection and of the message: the gateway writes them. */
const OF_MESSAGE =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|proxy-.*|content-(length|type|encoding|language))$/i;
/** Headers and parameters that name another method, path or host than the one that was judged. */
const OTHER_REQUEST = /^([_.+-]*(x-)?(http-)?method(-override)?|x-(original|rewrite|forwarded)-.*|x-host|forwarded)$/i;
/** Headers by which the agent would act as another user than the rule's secret. */
const OTHER_USER = /^(cookie|sudo|.*(authorization|token|api-?key))$/i;

/**
 * What a rule adds to the names that pass with its requests.
 *
 * @throws {RunClaudeError} USAGE for a name that cannot pass
 */
export function passedAlso(
  { parameters, headers, contentTypes, header }: PassedNames & { readonly header?: string },
  where: string,
): Pick<BrokeredHost, 'also'> {
  for (const name of parameters ?? [])
    if (!PARAMETER.test(name) || OTHER_REQUEST.test(name)) throw refused(where, 'parameters', name);
  for (const name of headers ?? []) {
    const isOfSecret = header !== undefined && (OTHER_USER.test(name) || name.toLowerCase() === header.toLowerCase());
    if (!HEADER.test(name) || OF_MESSAGE.test(name) || OTHER_REQUEST.test(name) || isOfSecret || /^cookie$/i.test(name))
      throw refused(where, 'headers', name);
  }
  for (const type of contentTypes ?? []) if (!CONTENT_TYPE.test(type)) throw refused(where, 'content-types', type);
  const also: PassedAlso = {
    ...(parameters === undefined ? {} : { parameters }),
    ...(headers === undefined ? {} : { headers }),
    ...(contentTypes === undefined ? {} : { contentTypes }),
  };
  return Object.keys(also).length === 0 ? {} : { also };
}

const refused = (where: string, key: string, name: string): Error =>
  usageError(
    `${where}: ${key} cannot have ${JSON.stringify(name)}`,
    'Name parameters, headers and types of bodies one by one. None may choose another method, host or user.',
  );
