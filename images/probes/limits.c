/* Limits. Each is read first, so that a missing one is reported and not exceeded. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

/* A limit up to this is tried out; a higher one is only read. */
#define TRIED_PIDS 600
#define TRIED_BYTES (1L << 30)
#define TRIED_FILES 70000

/* The number in the first of the files that there is; -1: "max" or an absurdly large one; -2: no such file. */
static long limit_in(const char *const *files)
{
	for (; *files; files++) {
		FILE *file = fopen(*files, "r");
		if (!file)
			continue;
		long number = -1;
		int got = fscanf(file, "%ld", &number);
		fclose(file);
		return got == 1 && number < 1L << 60 ? number : -1;
	}
	return -2;
}

static long process_limit(void)
{
	return limit_in((const char *const[]){"/sys/fs/cgroup/pids/pids.max", "/sys/fs/cgroup/pids.max", NULL});
}

static long memory_limit(void)
{
	return limit_in((const char *const[]){"/sys/fs/cgroup/memory/memory.limit_in_bytes",
					      "/sys/fs/cgroup/memory.max", NULL});
}

static int as_result(long limit)
{
	return limit == -2 ? UNTESTABLE : limit < 0 ? OPEN : STOPPED;
}

static int try_process_limit(const void *unused)
{
	(void)unused;
	return as_result(process_limit());
}

static int try_fork_bomb(const void *unused)
{
	(void)unused;
	long limit = process_limit();
	if (limit < 0 || limit > TRIED_PIDS)
		return limit == -1 ? OPEN : UNTESTABLE;
	pid_t pids[TRIED_PIDS + 1];
	int count = 0, result = OPEN;
	for (; count <= limit && count < TRIED_PIDS; count++) {
		pids[count] = fork();
		if (pids[count] == 0)
			for (;;)
				pause();
		if (pids[count] < 0) {
			result = errno == EAGAIN ? STOPPED : OPEN;
			break;
		}
	}
	for (int i = 0; i < count; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	return result;
}

static int try_memory_limit(const void *unused)
{
	(void)unused;
	return as_result(memory_limit());
}

/* cgroup v1: memory with swap; v2: swap alone. A kernel that does not account for swap has neither file. */
static int try_swap(const void *unused)
{
	(void)unused;
	long swap = limit_in((const char *const[]){"/sys/fs/cgroup/memory.swap.max", NULL});
	if (swap != -2)
		return swap == 0 ? STOPPED : OPEN;
	long both = limit_in((const char *const[]){"/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes", NULL});
	return both == -2 ? UNTESTABLE : both >= 0 && both == memory_limit() ? STOPPED : OPEN;
}

/* The bomb is its own child, the largest process: the kernel's OOM killer chooses it. */
static int try_memory_bomb(const void *unused)
{
	(void)unused;
	long limit = memory_limit();
	if (limit < 0 || limit > TRIED_BYTES)
		return limit == -1 ? OPEN : UNTESTABLE;
	pid_t pid = fork();
	if (pid == 0) {
		long size = limit + (16L << 20);
		char *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		for (long at = 0; block != MAP_FAILED && at < size; at += 4096)
			block[at] = 1;
		_exit(0);
	}
	int status = 0;
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return UNTESTABLE;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? STOPPED : OPEN;
}

static int try_open_files(const void *unused)
{
	(void)unused;
	for (int i = 0; i < TRIED_FILES; i++)
		if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
			return errno == EMFILE ? STOPPED : OPEN;
	return OPEN;
}

/* A file larger than the file system: refused, and no part of it remains. */
static int try_fill(const void *directory)
{
	struct statvfs fs;
	char path[64];
	if (statvfs(directory, &fs) < 0)
		return UNTESTABLE;
	long size = (long)(fs.f_blocks * fs.f_frsize);
	if (size == 0 || size > 4 * TRIED_BYTES)
		return OPEN;
	snprintf(path, sizeof path, "%s/.probe-fill", (const char *)directory);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EACCES ? UNTESTABLE : OPEN;
	unlink(path);
	if (size > TRIED_BYTES / 8)
		return STOPPED;
	return fallocate(fd, 0, 0, size + 4096) < 0 && errno == ENOSPC ? STOPPED : OPEN;
}

void probe_limits(void)
{
	run("process-limit", "limits", try_process_limit, NULL, "a number");
	run("fork-bomb", "limits", try_fork_bomb, NULL, "EAGAIN");
	run("memory-limit", "limits", try_memory_limit, NULL, "a number");
	run("swap-limit", "limits", try_swap, NULL, "no swap beyond the memory limit");
	run("memory-bomb", "limits", try_memory_bomb, NULL, "killed");
	run("open-files-bomb", "limits", try_open_files, NULL, "EMFILE");
	run("fill/tmp", "tmpfs options", try_fill, "/tmp", "ENOSPC");
	run("fill/run", "tmpfs options", try_fill, "/run", "ENOSPC");
	run("fill/dev/shm", "limits", try_fill, "/dev/shm", "ENOSPC");
}
