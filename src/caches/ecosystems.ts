import type { CacheName } from '../types/cache.ts';
import type { Ecosystem } from './ecosystem.ts';
import { go } from './ecosystems/go.ts';
import { npm } from './ecosystems/npm.ts';
import { pip } from './ecosystems/pip.ts';
import { yarn } from './ecosystems/yarn.ts';

const ROWS: Readonly<Record<CacheName, Ecosystem>> = { npm, yarn, pip, go };

export function ecosystemOf(name: CacheName): Ecosystem {
  return ROWS[name];
}
