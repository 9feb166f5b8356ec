/* Whether the network that a container has to be kept from answers: for a pod whose only fence is a policy of its cluster. */
#pragma once

/* Takes a sentence: what answers, or what cannot be tried. */
typedef void reach_report(const char *what);

/* Adds a place to try: "api-server", "name-server", or "NAME ADDRESS PORT". The text is not copied. */
void reach_add(const char *place);

/*
 * Tries every place for a second. Any answer counts, a refused connection too: the packet arrived. Where one answers, all
 * are tried again for up to ten seconds; then what still answers is reported. A place that it does not know is reported at once.
 */
void reach_none(reach_report *report);
