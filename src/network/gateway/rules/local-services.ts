import { usageError } from '../../../core/errors.ts';
import type { Policy } from '../../../core/types/policy.ts';

/** A service of the user's machine that a session may use: `PORT[:NAME]`. */
export interface LocalService {
  /** On the loopback of the user's machine, and on the agent's. */
  readonly port: number;
  /** A host name for 127.0.0.1 inside. */
  readonly name: string | undefined;
}

/** Ports on the agent's loopback that the forwarder has for itself. */
const OWN_PORTS: readonly number[] = [47_801, 47_802];
/** With 8 services of a session and the gateway's own, the forwarder takes 32 sockets. */
const MAX_LOCAL_SERVICES = 8;
const NAME =
  /^(?!localhost$|ip6-|sandbox$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?){0,4}$/;

/** @throws {RunClaudeError} USAGE where the text is not `PORT[:NAME]` */
export function parseLocalService(text: string, from = '--allow-local'): LocalService {
  const [, digits, name] = /^(\d{1,5})(?::(.*))?$/.exec(text) ?? [];
  const port = Number(digits);
  if (!(port >= 1024 && port <= 65_535))
    throw usageError(`${from}: ${text}: not a port`, 'Write PORT or PORT:NAME, with a port from 1024 to 65535.');
  if (OWN_PORTS.includes(port))
    throw usageError(`${from}: ${text}: run-claude uses this port inside`, 'Let the service listen on another port.');
  if (name !== undefined && (!NAME.test(name) || /^[\d.]+$/.test(name)))
    throw usageError(`${from}: ${text}: '${name}' is not a host name`, 'Write a name such as db or db.internal.');
  return { port, name };
}

/** All services of a policy. @throws {RunClaudeError} USAGE also for a port or name that is named twice. */
export function parseLocalServices(texts: readonly string[], from = '--allow-local'): readonly LocalService[] {
  const services = texts.map((text) => parseLocalService(text, from));
  if (hasTwice(services.map(({ port }) => port)))
    throw usageError(`${from}: a port is named twice`, 'Name each port once.');
  if (hasTwice(services.flatMap(({ name }) => name ?? [])))
    throw usageError(`${from}: a name is named twice`, 'Give each port its own name.');
  if (services.length > MAX_LOCAL_SERVICES)
    throw usageError(`${from}: more than ${MAX_LOCAL_SERVICES} services`, 'Name fewer ports.');
  return services;
}

function hasTwice(all: readonly (number | string)[]): boolean {
  return new Set(all).size < all.length;
}

/** A port of the agent's loopback, and a name of it, leads to one service. */
export function refuseTakenPorts({ services = [], allowLocal = [] }: Pick<Policy, 'services' | 'allowLocal'>): void {
  const locals = parseLocalServices(allowLocal);
  for (const { name, port } of services) {
    const other = locals.find((local) => local.port === port || local.name === name);
    if (other === undefined) continue;
    const what = other.port === port ? `port ${port}` : `name ${name}`;
    throw usageError(
      `the service ${name} and --allow-local have the same ${what}`,
      'Leave one of them out, or change it.',
    );
  }
}
