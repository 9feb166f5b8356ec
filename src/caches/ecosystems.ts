import type { CacheName } from '../types/cache.ts';
import type { Ecosystem } from './ecosystem.ts';
import { npm } from './ecosystems/npm.ts';

const ROWS: Readonly<Record<CacheName, Ecosystem>> = { npm };

export function ecosystemOf(name: CacheName): Ecosystem {
  return ROWS[name];
}
