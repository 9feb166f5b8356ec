import type { Tell } from '../../core/types/event.ts';
import type { SummaryLine } from './finding-lines.ts';

/** Prints lines of a summary as messages and findings. */
export function tellLines(lines: readonly SummaryLine[], tell: Tell): void {
  for (const { text, severity } of lines) {
    if (severity === 'info') tell({ kind: 'message', level: 'info', text });
    // The printer writes WARNING itself.
    else tell({ kind: 'finding', severity, text: text.replace(/^WARNING: /, '') });
  }
}
