/* Whether the network that a container has to be kept from answers: for a pod whose only fence is a policy of its cluster. */
#pragma once

/* Takes a sentence: what answers, or what cannot be tried. */
typedef void reach_report(const char *what);

/*
 * Begins to try one place: "api-server", "name-server", or "NAME ADDRESS PORT". Reports a place that it does not know, and
 * what answers at once. Any answer counts, a refused connection too: the packet arrived.
 */
void reach_try(const char *place, reach_report *report);

/* Waits up to a second for all places that are being tried, and reports those that answer. */
void reach_wait(reach_report *report);
