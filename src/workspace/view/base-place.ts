import path from 'node:path';
import { treesOf } from '../base/stacked.ts';
import { parseWorkspaceRecord } from '../layer/workspace-record.ts';

/**
 * Where the base of a session's workspace is on this machine: the list of its entries, and the directories that hold them.
 * No engine is needed to read it. `record`: as in the session's record.
 *
 * @throws {RunClaudeError} as parseWorkspaceRecord.
 */
export function basePlace(record: unknown): { readonly manifest: string; readonly trees: readonly string[] } {
  const { generation } = parseWorkspaceRecord(record);
  return { manifest: path.join(generation, 'manifest'), trees: treesOf(generation) };
}
