/* What init checks before it starts a program. */
#pragma once

/*
 * Compares what this process sees with what the engine was asked for: one property a line in `asked`, as written by
 * src/engines/engine/hardening/proof.ts. Returns a description of what is weaker, joined by "; " (empty: nothing). A feature that
 * this kernel lacks is not reported.
 */
const char *prove(char *asked);
