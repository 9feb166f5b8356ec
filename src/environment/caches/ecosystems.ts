import type { CacheName } from '../../core/types/setup/cache.ts';
import type { Ecosystem } from './ecosystem.ts';
import { cargo } from './ecosystems/cargo.ts';
import { go } from './ecosystems/go.ts';
import { gradle } from './ecosystems/gradle.ts';
import { maven } from './ecosystems/maven.ts';
import { npm } from './ecosystems/npm.ts';
import { pip } from './ecosystems/pip.ts';
import { pnpm } from './ecosystems/pnpm.ts';
import { yarn } from './ecosystems/yarn.ts';

const ROWS: Readonly<Record<CacheName, Ecosystem>> = {
  npm,
  pnpm,
  yarn,
  pip,
  cargo,
  go,
  maven,
  gradle,
};

export function ecosystemOf(name: CacheName): Ecosystem {
  return ROWS[name];
}
