/*
 * Preloaded into every dynamic program: makes it undumpable, so that other processes of the same user cannot read its
 * memory, environment and descriptors through /proc, and it leaves no core (the container's limit covers the others).
 *
 * Compile: cc -shared -fPIC -O2 nodump.c -o nodump.so
 *
 * SECURITY LIMITATION: static programs, a patched copy of the loader and the moment between exec and this constructor
 * are not covered. It protects a process that started before the attacker. No secret may be in the environment of a
 * later process. run-claude's own static programs set the flag themselves. The seccomp profile keeps a process from setting the flag back.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Only in a container of a rehearsal, whose observer reads the arguments of calls. On a read-only root no process can make it. */
#define OBSERVED_SIGN "/etc/run-claude/observed"

__attribute__((constructor)) static void nodump(void)
{
	/* Raw calls: a library preloaded by the agent may replace libc's. */
	if (syscall(SYS_faccessat, AT_FDCWD, OBSERVED_SIGN, F_OK) == 0)
		return;
	syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
}
