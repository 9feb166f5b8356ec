/* The guards, seen as an attacker of the same user sees them. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

#define SLEEP "/bin/sleep"
#define GIT "/usr/bin/git"
#define REFUSED 128

static int can_read(const char *path)
{
	char byte;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t got = read(fd, &byte, 1);
	close(fd);
	/* The memory at address 0 is not mapped: EIO means that access was granted. */
	return got >= 0 || errno == EIO;
}

/* Where a descriptor leads to. Uid 0 may list the folder, which is root's; to follow an entry takes the right to trace. */
static int can_follow(const char *path)
{
	DIR *dir = opendir(path);
	char target[8];
	int followed = 0;
	for (struct dirent *entry; dir != NULL && !followed && (entry = readdir(dir)) != NULL;)
		followed = readlinkat(dirfd(dir), entry->d_name, target, sizeof target) >= 0;
	if (dir != NULL)
		closedir(dir);
	return followed;
}

/* A dynamic program of the probes; a moment later its guard has run. Between exec and then it is unprotected: see nodump.c. */
static int try_other(const void *file)
{
	char path[64], environment[64];
	struct timespec moment = {.tv_nsec = 20000000};
	pid_t pid = fork();
	if (pid == 0) {
		execl(SLEEP, SLEEP, "60", (char *)NULL);
		_exit(127);
	}
	if (pid < 0)
		return UNTESTABLE;
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, (const char *)file);
	snprintf(environment, sizeof environment, "/proc/%d/environ", (int)pid);
	for (int i = 0; i < 100 && can_read(environment); i++)
		nanosleep(&moment, NULL);
	int open = *(const char *)file == 'f' ? can_follow(path) : can_read(path);
	int ended = waitpid(pid, NULL, WNOHANG) != 0;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return ended ? UNTESTABLE : open ? OPEN : STOPPED;
}

static int try_init(const void *file)
{
	char path[64];
	if (getppid() == 1)
		return UNTESTABLE;
	snprintf(path, sizeof path, "/proc/1/%s", (const char *)file);
	return can_read(path) ? OPEN : STOPPED;
}

/* git with one word of configuration that runs a program, in a command that would not even use it. */
static const struct vector {
	const char *name, *variable, *value, *words[4];
} vectors[] = {
	{"git-c-setting", NULL, NULL, {"-c", "core.sshCommand=touch /tmp/probe", "version"}},
	{"git-c-alias", NULL, NULL, {"-c", "alias.z=!true", "version"}},
	{"git-config-env", NULL, NULL, {"--config-env=core.editor=PATH", "version"}},
	{"git-exec-path", NULL, NULL, {"--exec-path=/tmp", "version"}},
	{"git-variable-parameters", "GIT_CONFIG_PARAMETERS", "'core.pager'='touch /tmp/probe'", {"version"}},
};

static int try_git(const void *argument)
{
	const struct vector *vector = argument;
	if (access(GIT, X_OK) < 0)
		return UNTESTABLE;
	pid_t pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);
		dup2(null, 1);
		dup2(null, 2);
		if (vector->variable)
			setenv(vector->variable, vector->value, 1);
		char *words[6] = {"git"};
		for (int i = 0; i < 4; i++)
			words[i + 1] = (char *)vector->words[i];
		execv(GIT, words);
		_exit(127);
	}
	int status = 0;
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		return UNTESTABLE;
	return WEXITSTATUS(status) == REFUSED ? STOPPED : WEXITSTATUS(status) == 0 ? OPEN : UNTESTABLE;
}

void probe_guards(void)
{
	static const char *const files[] = {"environ", "mem", "maps", "auxv", "fd", "syscall"};
	char name[64];
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		snprintf(name, sizeof name, "other-process-%s", files[i]);
		run(name, "nodump guard", try_other, files[i], "EACCES");
	}
	for (size_t i = 0; i < 2; i++) {
		snprintf(name, sizeof name, "init-%s", files[i]);
		run(name, "own init", try_init, files[i], "EACCES");
	}
	for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
		run(vectors[i].name, "git guard", try_git, &vectors[i], "refused");
}
