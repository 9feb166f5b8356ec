import { usageError } from '../../core/errors.ts';
import type { Policy } from '../../core/types/policy.ts';
import { parseLocalServices } from '../../network/gateway/rules/local-services.ts';

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
