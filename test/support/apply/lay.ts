import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { openContentStore } from '../../../src/core/store/content.ts';
import type { Tell } from '../../../src/core/types/event.ts';
import type { ApplyOutcome } from '../../../src/core/types/session.ts';
import { applyChanges } from '../../../src/review/apply/apply-changes.ts';
import type { ApplyRequest } from '../../../src/review/apply/apply-request.ts';
import { recoverApply } from '../../../src/review/apply/recover.ts';
import { type UndoRequest, undoApply } from '../../../src/review/apply/undo.ts';
import { changesBetween, type Node, readTimes, readTree, writeTree } from './tree.ts';

export const file = (text: string, mode = 0o644): Node => ({ kind: 'file', text, mode });
export const dir: Node = { kind: 'dir', mode: 0o755 };
export const link = (target: string): Node => ({ kind: 'symlink', target });
export type Nodes = Readonly<Record<string, Node>>;

export interface Sides {
  readonly base: Nodes;
  readonly session: Nodes;
  /** Default: as at the start. */
  readonly host?: Nodes;
}

/** Verdict and reason of each path, or what was thrown. */
export type Said = Readonly<Record<string, string>>;
export const verdictTexts = async (doing: Promise<ApplyOutcome | undefined>): Promise<Said> => {
  try {
    const changes = (await doing)?.changes ?? [];
    return Object.fromEntries(
      changes.map(({ path: name, verdict, why }) => [name, why ? `${verdict}: ${why}` : verdict]),
    );
  } catch (error) {
    return { thrown: (error as Error).message };
  }
};

export function emptyFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) rmSync(path.join(folder, name), { recursive: true, force: true });
}

const silent: Tell = () => undefined;

/** A project, emptied and laid, with the changes of a session that are ready to be applied; its state in a folder. */
export async function layApply(project: string, state: string, { base, session, host = base }: Sides) {
  emptyFolder(project);
  rmSync(state, { recursive: true, force: true });
  writeTree(project, new Map(Object.entries(host)));
  const sessionDir = path.join(state, 'sessions', '1');
  const store = openContentStore(path.join(sessionDir, 'store'));
  const changes = await changesBetween(new Map(Object.entries(base)), new Map(Object.entries(session)), store);
  const common = (tell = silent) => ({
    project,
    sessionDir,
    store: openContentStore(path.join(sessionDir, 'store')),
    tell,
    dryRun: false,
  });
  const choice = {
    decided: true,
    discard: false,
    chosen: changes.map((change) => ({ change })),
    left: [],
    folders: [],
  };
  const rest = { conflict: 'keep', audit: () => [], acceptMerge: async () => true } as const;
  return {
    project,
    sessionDir,
    changes,
    choice,
    apply: (more: Partial<ApplyRequest> = {}) => verdictTexts(applyChanges({ ...common(), ...rest, choice, ...more })),
    undo: (more: Partial<UndoRequest> = {}) => verdictTexts(undoApply({ ...common(), ...more })),
    /** The session ran again and left this; the apply of what it changed since the base. */
    applyAgain: async (again: Nodes) => {
      const now = await changesBetween(new Map(Object.entries(base)), new Map(Object.entries(again)), store);
      const chosen = now.map((change) => ({ change }));
      return verdictTexts(applyChanges({ ...common(), ...rest, choice: { ...choice, chosen } }));
    },
    recover: (tell = silent) => verdictTexts(recoverApply(common(tell))),
    now: () => Object.fromEntries([...readTree(project)].sort(([a], [b]) => (a < b ? -1 : 1))),
    times: () => readTimes(project, readTree(project)),
  };
}
