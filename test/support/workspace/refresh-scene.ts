import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { EVERYTHING } from '../../../src/core/text/selection.ts';
import type { BaseGeneration } from '../../../src/workspace/base/base.ts';
import type { BaseOptions } from '../../../src/workspace/base/base-options.ts';
import { prepareBase } from '../../../src/workspace/base/prepare-base.ts';

/** The base in `dir/base` of the project in `dir/project`, for a session of that name. */
export function refresh(dir: string, sessionId: string, more: Partial<BaseOptions> = {}): Promise<BaseGeneration> {
  const sessionDir = path.join(dir, 'sessions', sessionId);
  mkdirSync(sessionDir, { recursive: true });
  return prepareBase({
    dir: path.join(dir, 'base'),
    project: path.join(dir, 'project'),
    grafts: new Map(),
    selection: EVERYTHING,
    owner: undefined,
    sessionId,
    sessionDir,
    verify: false,
    stack: false,
    tell: () => undefined,
    ...more,
  });
}
