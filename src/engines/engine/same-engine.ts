import type { EngineFacts } from '../../core/types/engine.ts';

type Place = Pick<EngineFacts, 'endpoint' | 'id' | 'dataRoot'>;

/**
 * Whether both are facts of one engine, whatever its name is in the configuration: the same address, or the same engine at
 * another address. Daemons of one machine may share an id, and never a data directory.
 */
export function isSameEngine(one: Place, other: Place): boolean {
  if (one.endpoint === other.endpoint) return true;
  return one.id !== undefined && one.id === other.id && one.dataRoot === other.dataRoot;
}
