import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { readWholeJson, writeFileAtomic } from '../../core/store/record.ts';
import type { Plan } from '../../core/types/plan.ts';
import { basePlace } from '../../workspace/layer/places.ts';
import type { Observation } from '../facts/records.ts';
import type { Scene } from '../scenes/scene.ts';
import { observerWords } from '../scenes/table.ts';

/** What was observed of a project as it was, kept with its private copy: the gc that removes the copy removes it too. */
export interface KeptBase {
  /** Empty where nothing is kept. */
  read(): readonly Observation[];
  keep(runs: readonly Observation[]): void;
}

const MAX_KEPT_FILES = 4;
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/**
 * The kept runs for a session's base. They count for the same files, image, setup, scenes, limits and variables only.
 * `workspace`: of the session's record.
 */
export function keptBase(
  plan: Plan,
  workspace: unknown,
  scenes: readonly Scene[],
  env: Readonly<Record<string, string>>,
): KeptBase {
  const dir = path.join(plan.baseDir, 'rehearsals');
  const { image, user, umask, environment, engine, policy } = plan;
  const { runtime, memoryMb, cpus, pids, tmpMb } = policy;
  const manifest = createHash('sha256')
    .update(readFileSync(basePlace(workspace).manifest))
    .digest('hex');
  const same = {
    ...{ manifest, image, user, umask, environment, engine: engine.endpoint, env },
    limits: [runtime, memoryMb, cpus, pids, tmpMb],
    words: observerWords(scenes, 0),
  };
  const key = createHash('sha256').update(JSON.stringify(same)).digest('hex').slice(0, 32);
  const file = path.join(dir, `${key}.json`);
  return {
    read() {
      try {
        const kept = readWholeJson(file) as { readonly runs?: readonly Observation[] } | undefined;
        return Array.isArray(kept?.runs) ? kept.runs : [];
      } catch {
        // It is a cache: what cannot be read is observed again.
        return [];
      }
    },
    keep(runs) {
      if (!runs.every(isWhole)) return;
      const text = JSON.stringify({ runs });
      if (Buffer.byteLength(text) > MAX_KEPT_BYTES) return;
      try {
        writeFileAtomic(file, text, { durable: false });
        removeOldest(dir);
      } catch {
        // A full disk ends no rehearsal.
      }
    },
  };
}

/** A run that was cut short says nothing about what would have followed. */
function isWhole({ scenes, unavailable }: Observation): boolean {
  return unavailable === undefined && scenes.every(({ end }) => !['broken', 'unbudgeted'].includes(end.kind));
}

function removeOldest(dir: string): void {
  const files = readdirSync(dir).map((name) => path.join(dir, name));
  const byTime = files
    .map((file) => ({ file, at: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.at - a.at);
  for (const { file } of byTime.slice(MAX_KEPT_FILES)) rmSync(file, { force: true });
}
