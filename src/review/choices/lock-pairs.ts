import { ownValue } from '../../core/text/own-value.ts';
import type { ChangeOutcome } from '../../core/types/session.ts';
import { isApplied } from './file-progress.ts';

/** Manifests by name, with the lock files that are written from them. A tool can write the lock again: a hint is enough. */
const LOCKS: Readonly<Record<string, readonly string[]>> = {
  'package.json': ['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb'],
  'deno.json': ['deno.lock'],
  'Cargo.toml': ['Cargo.lock'],
  'pyproject.toml': ['poetry.lock', 'uv.lock', 'pdm.lock', 'pixi.lock'],
  Pipfile: ['Pipfile.lock'],
  'go.mod': ['go.sum'],
  'composer.json': ['composer.lock'],
  Gemfile: ['Gemfile.lock'],
  'mix.exs': ['mix.lock'],
  'pubspec.yaml': ['pubspec.lock'],
  'flake.nix': ['flake.lock'],
  Podfile: ['Podfile.lock'],
  'Package.swift': ['Package.resolved'],
};

/** A manifest and its lock of which one was applied and one was left. */
export interface SplitPair {
  readonly applied: string;
  readonly left: string;
}

/** The pairs of manifest and lock file that an apply split: nothing is lost, but they may not fit together. Pure. */
export function splitPairs(outcomes: readonly ChangeOutcome[]): SplitPair[] {
  const verdicts = new Map<string, boolean>(outcomes.map((one) => [one.path, isApplied(one)]));
  const pairs: SplitPair[] = [];
  for (const manifest of verdicts.keys()) {
    const start = manifest.lastIndexOf('/') + 1;
    for (const name of ownValue(LOCKS, manifest.slice(start)) ?? []) {
      const lock = manifest.slice(0, start) + name;
      const [own, other] = [verdicts.get(manifest), verdicts.get(lock)];
      if (own === undefined || other === undefined || own === other) continue;
      pairs.push(own ? { applied: manifest, left: lock } : { applied: lock, left: manifest });
    }
  }
  return pairs;
}
