import type { Decoy } from '../../core/secrets/decoy.ts';
import type { RelPath } from '../../core/text/path.ts';
import type { TreeReader } from '../../core/types/collector.ts';
import type { Mount } from '../../core/types/engine.ts';
import type { ChangeKind, Collected, WithheldGroup } from '../../core/types/entry.ts';
import type { SecretFile } from '../../core/types/secret/secret-file.ts';
import type { DiskHooks, DiskWatch } from '../collector/disk.ts';
import type { CollectRules } from './collect/collect-options.ts';

/** One change as the live view shows it: no content, nothing frozen. */
export interface LiveChange {
  readonly path: RelPath;
  readonly kind: ChangeKind | 'unreadable';
  readonly size: number;
  /** Changes with every write. */
  readonly stamp: string;
}

/** A session's changes so far, for a user who watches, never for the gate. */
export interface LiveChanges {
  /** By path, without git's own files and without ignored output. */
  readonly changes: readonly LiveChange[];
  /** Ignored output by topmost directory, as of the last count. */
  readonly ignored: readonly WithheldGroup[];
}

export interface LiveReader {
  /** With `counting`, ignored output of any size is listed as well; otherwise its directories are skipped. */
  look(counting: boolean): Promise<LiveChanges>;
}

/** The session's own view of the project. */
export interface Workspace {
  /** For the agent's container. */
  readonly mounts: readonly Mount[];
  /** For session.json: reopenWorkspace opens the same workspace from it. */
  readonly record: unknown;
  /** The project's secrets, where the workspace was made anew: its files, and the decoys in the masked ones. */
  readonly secrets?: { readonly files: readonly SecretFile[]; readonly decoys: readonly Decoy[] } | undefined;
  /** Roots 'base', 'upper', 'merged' (strategy and engine permitting) and those asked for. */
  readonly reader: TreeReader;
  /** Starts the collector. Nothing needs it before the agent runs, so the two containers start side by side. */
  wake(): Promise<void>;
  /** Bytes and entries that the session has written so far. */
  usage(): Promise<{ readonly bytes: number; readonly entries: number }>;
  /** For a user who watches: what has changed so far, by metadata. */
  watchChanges(): Promise<LiveReader>;
  /** The disk is this machine's, so that it can be watched before the collector runs. */
  readonly isOnThisMachine: boolean;
  /** Polls the disk until it is stopped. What is written to the other workspaces counts too. */
  watchDisk(hooks: DiskHooks, others?: readonly Pick<Workspace, 'usage'>[]): DiskWatch;
  /** After the last writer's end: what changed, frozen in the session's store; by `rules`, what belongs together too. */
  collect(rules?: CollectRules): Promise<Collected>;
  /** Ends a collection that is under way with this error, within a moment. The next one goes on from what is done. */
  interrupt(reason: Error): void;
  /** Drops what the next collection would go on from: the result of this one is on the disk. */
  forgetProgress(): void;
  /** Ends the collector; with `keepLayer` the layer stays. No error for anything that no longer exists. */
  close(options: { readonly keepLayer: boolean }): Promise<void>;
}
