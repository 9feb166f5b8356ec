import { ATTACKS_SIGNALS } from './attacks.ts';
import { CHECKS_SIGNALS } from './checks.ts';
import { DIRECTIVES_SIGNALS } from './directives.ts';
import { DOCUMENTS_SIGNALS } from './documents.ts';
import { HIDDEN_CODE_SIGNALS } from './hidden-code.ts';
import type { LineSignal } from './signal.ts';

/** Everything that a new line of a file can give away by itself. */
export const LINE_SIGNALS: readonly LineSignal[] = [
  ...HIDDEN_CODE_SIGNALS,
  ...ATTACKS_SIGNALS,
  ...DOCUMENTS_SIGNALS,
  ...CHECKS_SIGNALS,
  ...DIRECTIVES_SIGNALS,
];
