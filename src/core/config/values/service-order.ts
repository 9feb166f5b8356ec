import type { Service } from '../../types/policy.ts';

/** Each is a port that the agent's forwarder listens on, and a container. */
export const MAX_SERVICES = 8;

/** Why these services cannot be in one session; undefined where they can. */
export function whyNotTogether(all: readonly Service[]): string | undefined {
  if (all.length > MAX_SERVICES) return `more than ${MAX_SERVICES} services`;
  const name = firstTwice(all.map((one) => one.name));
  if (name !== undefined) return `two services have the name ${name}`;
  const port = firstTwice(all.map((one) => one.port));
  if (port !== undefined) return `two services have the port ${port}`;
  if (startOrder(all) === undefined) return 'reaches names a service that is not there, or goes in a circle';
  return undefined;
}

/** The services, each after those that it reaches; undefined where there is no such order. */
export function startOrder(services: readonly Service[]): readonly Service[] | undefined {
  const order: Service[] = [];
  const isPlaced = (name: string): boolean => order.some((one) => one.name === name);
  while (order.length < services.length) {
    const next = services.find((one) => !isPlaced(one.name) && one.reaches.every(isPlaced));
    if (next === undefined) return undefined;
    order.push(next);
  }
  return order;
}

function firstTwice<T>(all: readonly T[]): T | undefined {
  return all.find((one, index) => all.indexOf(one) !== index);
}
