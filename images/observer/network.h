#ifndef NETWORK_H
#define NETWORK_H
#include "seen.h"

int see_network(const struct process *who, int listener, const struct seccomp_notif *asked);
#endif
