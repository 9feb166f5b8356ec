import { expect, it } from 'vitest';
import type { SessionEvent } from '../../../../src/core/types/event.ts';
import { tellLines } from '../../../../src/review/screen/finding-lines.ts';

it('prints facts as messages, and findings with their severity, without the prefix that the printer writes', () => {
  const events: SessionEvent[] = [];
  const lines = [
    { text: '2 files changed', severity: 'info' },
    { text: 'WARNING: Suspect file modified: Makefile', severity: 'suspect' },
    { text: 'New dependency: lodash', severity: 'note' },
  ] as const;
  tellLines(lines, (event) => void events.push(event));
  expect(events).toEqual([
    { kind: 'message', level: 'info', text: '2 files changed' },
    { kind: 'finding', severity: 'suspect', text: 'Suspect file modified: Makefile' },
    { kind: 'finding', severity: 'note', text: 'New dependency: lodash' },
  ]);
});
