/* What init looks at before it starts anything. */
#pragma once

/*
 * Compares what this process itself sees with what was asked of the engine: one thing a line in `asked`, as
 * src/engine/hardening/proof.ts writes it. Returns what is weaker, in words for people, joined by "; " (empty: nothing is). What this
 * kernel does not have at all counts as neither.
 */
const char *prove(char *asked);
