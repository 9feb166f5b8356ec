import { lstatSync } from 'node:fs';
import path from 'node:path';
import { RunClaudeError } from '../../core/errors.ts';
import type { SelectionRules } from '../../core/text/selection.ts';
import { STRATEGY_NAMES, type StrategyName } from '../../core/types/strategy.ts';
import type { VolumeBase } from './volumes/volume-base.ts';

/** What a later command needs to open the same layer again; opaque outside this room. */
export interface WorkspaceRecord {
  readonly version: 1;
  readonly strategy: StrategyName;
  /** Directory of the base generation on this machine. */
  readonly generation: string;
  /** Entries of the project. */
  readonly entries: number;
  readonly rules: SelectionRules;
  /** Paths that could not be copied, with what is below them. Earlier releases did not write it. */
  readonly leftOut?: readonly string[];
  /** Files that are masked. Earlier releases masked none by themselves. */
  readonly masked?: readonly string[];
  /** The generation in the engine, for a strategy that stores it there. */
  readonly volume?: VolumeBase;
}

const DECIDE = 'What was collected from it is in its record: review, apply or discard that.';

/**
 * The workspace of a session record, checked.
 *
 * @throws {RunClaudeError} WORKSPACE_GONE when the session has none, or when its base generation no longer exists;
 * RECORD_VERSION when another release wrote it in a form that this one does not read.
 */
export function parseWorkspaceRecord(value: unknown): WorkspaceRecord {
  if (value === undefined) throw new RunClaudeError('WORKSPACE_GONE', 'this session has no workspace on record');
  const { version, strategy: named, generation, entries, rules, leftOut, masked, volume } = objectOf(value);
  if (version !== 1) throw unreadable('it was written by another version of run-claude');
  const strategy = STRATEGY_NAMES.find((name) => name === named);
  if (strategy === undefined) throw unreadable(`this version of run-claude has no strategy '${String(named)}'`);
  if (typeof generation !== 'string' || !path.isAbsolute(generation)) throw unreadable('it names no base generation');
  if (typeof entries !== 'number' || !Number.isSafeInteger(entries)) throw unreadable('it has no number of entries');
  const { exclude, include, mask } = objectOf(rules);
  if (!isListOfText(exclude) || !isListOfText(include) || !isListOfText(mask)) throw unreadable('it has no rules');
  if (leftOut !== undefined && !isListOfText(leftOut)) throw unreadable('it does not name what was left out');
  if (masked !== undefined && !isListOfText(masked)) throw unreadable('it does not name what is masked');
  const sent = volume === undefined ? undefined : parseVolumeBase(volume);
  if (lstatSync(path.join(generation, 'manifest'), { throwIfNoEntry: false }) === undefined) {
    throw new RunClaudeError('WORKSPACE_GONE', 'the base generation of this session no longer exists', {
      hint: DECIDE,
    });
  }
  return {
    version,
    strategy,
    generation,
    entries,
    rules: { exclude, include, mask },
    ...(leftOut === undefined ? {} : { leftOut }),
    ...(masked === undefined ? {} : { masked }),
    ...(sent === undefined ? {} : { volume: sent }),
  };
}

function parseVolumeBase(value: unknown): VolumeBase {
  const { volume, place, nonce } = objectOf(value);
  if (typeof volume !== 'string' || typeof place !== 'string' || typeof nonce !== 'string') {
    throw unreadable("it does not name the engine's volume");
  }
  return { volume, place, nonce };
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw unreadable('it is damaged');
  return value as Readonly<Record<string, unknown>>;
}

function isListOfText(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function unreadable(why: string): RunClaudeError {
  return new RunClaudeError('RECORD_VERSION', `the working copy of this session cannot be opened: ${why}`, {
    hint: DECIDE,
  });
}
