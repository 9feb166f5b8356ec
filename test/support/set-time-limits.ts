// Loaded before each test file (vitest.config.ts): the file's own limits, where it has an exception.
import path from 'node:path';
import { expect, inject, vi } from 'vitest';
import { limitsOf, type TimeLimits } from './time-limits.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly timeLimits: TimeLimits;
  }
}

const file = path.relative(path.resolve(import.meta.dirname, '../..'), expect.getState().testPath ?? '');
vi.setConfig(limitsOf(file, inject('timeLimits')));
