/*
 * PID 1 of every container that run-claude starts.
 *
 *   init [--guard PID] [--prove WHAT] [--umask MASK] [--tied] [--until FILE] [--forward SPEC]... -- PROGRAM [ARGUMENT]...
 *
 * Starts PROGRAM in a process group of its own (in the foreground where there is a terminal), passes signals on to
 * it, reaps every process that ends, and ends with its status (128 + signal when it was killed). With --forward it keeps
 * one forwarder running and restarts it whenever it ends; at the pids limit it retries until a process can start.
 * PROGRAM starts once the forwarder accepts connections, or after LISTEN_MS. With
 * --until it starts nothing before FILE exists, in a directory that no process inside can write. With --prove it first
 * checks that the container is as requested (prove.h), and prints the result as the first line of its output, before any
 * other process inside could print: "proven", or what is weaker. In the second case it starts nothing.
 * PID is a child from before this program was executed: everything ends when that process ends or stops. MASK is PROGRAM's
 * umask, in octal. With --tied the container ends when its input does, which the engine closes where the command that
 * attached to it ends, by SIGKILL too: PROGRAM, which could ignore that, has no input.
 *
 * A PROGRAM that stops (Ctrl-Z) has no shell above it that could wake it. On a terminal this process reports the stop to
 * run-claude in the terminal's output (STOPPED, which src/terminal/attach/filter-rules.ts recognises) and waits for SIGCONT, as
 * a shell's `fg` sends it. Without a terminal, or when the report cannot be written, it wakes PROGRAM at once.
 *
 * Compile: cc -static -O2 -std=gnu11 -Wall -Wextra -Werror init.c
 *
 * Limits: PROGRAM has the same user, so it can kill the forwarder, as often as it likes; it then has no network
 * until the forwarder is back. It cannot stop or trace this process: PID 1 takes no signal from inside that it did
 * not ask for, and is not dumpable.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "prove.h"

#ifndef FORWARDER
#define FORWARDER "/usr/lib/run-claude/forwarder"
#endif
/* Copies that their user may read, for gVisor: the one of this program starts the one of the forwarder. */
#define READABLE "/usr/lib/run-claude/readable/"
#define MAX_FORWARDS 32
#define RESTART_MS 100
#define LISTEN_MS 5000
#define POLL_MS 5
#define TIED_MS 500
#define FAILED 125
/* The agent can write this as well: run-claude acts on it only right after the user pressed Ctrl-Z. */
#define STOPPED "\033]7077;stopped\007"

static const int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT};

static void die(const char *what)
{
	fprintf(stderr, "init: %s: %s\n", what, strerror(errno));
	exit(FAILED);
}

/* Of PROGRAM; -1: as this process was started. */
static long mask = -1;

static bool is_tied;

/* Whether the command that attached has ended. Its end of the input closes with it; nothing is ever written to it. */
static bool is_left(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char byte;
	return is_tied && poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

/* Of a child: only this process reads the container's own. */
static void leave_input(void)
{
	int none = open("/dev/null", O_RDONLY);
	if (none < 0 || dup2(none, STDIN_FILENO) < 0)
		die("/dev/null");
	if (none != STDIN_FILENO)
		close(none);
}

/* Signals are taken one at a time with sigtimedwait, never in a handler. */
static void block_signals(sigset_t *before)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
		sigaddset(&set, passed_on[i]);
	if (sigprocmask(SIG_BLOCK, &set, before) < 0)
		die("sigprocmask");
	/* A background process that sets the foreground group is stopped otherwise. */
	signal(SIGTTOU, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
}

static pid_t start(char *const argv[], const sigset_t *signals, bool foreground)
{
	pid_t pid = fork();
	if (pid > 0)
		/* In the parent too: a signal that is passed on before the child runs must find the group. */
		setpgid(pid, pid);
	if (pid != 0)
		return pid;
	if (setpgid(0, 0) < 0)
		die("setpgid");
	if (is_tied)
		leave_input();
	if (foreground && isatty(STDIN_FILENO) && tcsetpgrp(STDIN_FILENO, getpid()) < 0 && errno != ENOTTY)
		die("tcsetpgrp");
	signal(SIGTTOU, SIG_DFL);
	signal(SIGTTIN, SIG_DFL);
	sigprocmask(SIG_SETMASK, signals, NULL);
	if (foreground && mask >= 0)
		umask((mode_t)mask);
	execvp(argv[0], argv);
	fprintf(stderr, "init: cannot start %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Dies with the limit's own error only when it is not the limit. */
static pid_t start_patiently(char *const argv[], const sigset_t *signals)
{
	for (;;) {
		pid_t pid = start(argv, signals, true);
		if (pid > 0)
			return pid;
		if (errno != EAGAIN && errno != ENOMEM)
			die("fork");
		nanosleep(&(struct timespec){.tv_nsec = RESTART_MS * 1000000L}, NULL);
	}
}

/*
 * A program whose first act is a connection would be refused by a port that nobody listens on yet. The forwarder has the
 * write end of a pipe, and closes it when it listens; its end closes it too.
 */
static pid_t start_forwarder(char *argv[], char **last, const sigset_t *signals)
{
	int ends[2];
	char ready[32];
	if (pipe(ends) < 0)
		return start(argv, signals, false);
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	snprintf(ready, sizeof ready, "ready=%d", ends[1]);
	*last = ready;
	pid_t pid = start(argv, signals, false);
	*last = NULL;
	close(ends[1]);
	if (pid > 0)
		poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, LISTEN_MS);
	close(ends[0]);
	return pid;
}

/* The container starts while FILE is being made: starting takes longer. */
static void wait_for(const char *file, const sigset_t *signals)
{
	while (access(file, F_OK) < 0) {
		int got = sigtimedwait(signals, NULL, &(struct timespec){.tv_nsec = POLL_MS * 1000000L});
		if (got == SIGHUP || got == SIGINT || got == SIGQUIT || got == SIGTERM)
			exit(128 + got);
		if (is_left())
			exit(128 + SIGHUP);
	}
}

/* As `fg` does. The program may have given the terminal to a process that ended in the meantime. */
static void wake(pid_t program)
{
	if (isatty(STDIN_FILENO))
		tcsetpgrp(STDIN_FILENO, program);
	kill(-program, SIGCONT);
}

/* Never blocks: a program that stopped the terminal's output must not stop this process. */
static bool report_stopped(void)
{
	int fd = open("/dev/tty", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool whole = write(fd, STOPPED, sizeof STOPPED - 1) == (ssize_t)sizeof STOPPED - 1;
	close(fd);
	return whole;
}

static int status_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char *argv[])
{
	bool is_copy = strncmp(argv[0], READABLE, sizeof READABLE - 1) == 0;
	char *forward[MAX_FORWARDS + 3] = {is_copy ? READABLE "forwarder" : FORWARDER};
	int forwards = 0, at = 1;
	const char *until = NULL;
	char *asked = NULL;
	pid_t guard = 0;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (at + 1 < argc && strcmp(argv[at], "--guard") == 0) {
		guard = atoi(argv[at + 1]);
		at += 2;
	}
	if (at + 1 < argc && strcmp(argv[at], "--prove") == 0) {
		asked = argv[at + 1];
		at += 2;
	}
	if (at + 1 < argc && strcmp(argv[at], "--umask") == 0) {
		mask = strtol(argv[at + 1], NULL, 8) & 0777;
		at += 2;
	}
	if (at + 1 < argc && strcmp(argv[at], "--tied") == 0) {
		is_tied = true;
		at++;
	}
	if (at + 1 < argc && strcmp(argv[at], "--until") == 0) {
		until = argv[at + 1];
		at += 2;
	}
	for (; at + 1 < argc && strcmp(argv[at], "--forward") == 0; at += 2) {
		if (forwards == MAX_FORWARDS) {
			fprintf(stderr, "init: at most %d --forward\n", MAX_FORWARDS);
			return FAILED;
		}
		forward[++forwards] = argv[at + 1];
	}
	if (at + 1 >= argc || strcmp(argv[at], "--") != 0) {
		fprintf(stderr, "usage: init [--guard PID] [--prove WHAT] [--umask MASK] [--tied] [--until FILE] [--forward SPEC]... -- PROGRAM [ARGUMENT]...\n");
		return FAILED;
	}
	if (asked) {
		const char *weaker = prove(asked);
		printf("%s\n", *weaker ? weaker : "proven");
		if (fflush(stdout) != 0 || *weaker)
			return FAILED;
	}

	sigset_t before, wanted;
	block_signals(&before);
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
		sigaddset(&wanted, passed_on[i]);

	if (until)
		wait_for(until, &wanted);
	pid_t forwarder = forwards > 0 ? start_forwarder(forward, &forward[forwards + 1], &before) : 0;
	pid_t program = start_patiently(argv + at + 1, &before);
	bool stopped = false;
	for (;;) {
		bool waiting = forwards > 0 && forwarder <= 0;
		struct timespec patience = {.tv_nsec = (waiting ? RESTART_MS : TIED_MS) * 1000000L};
		int got = waiting || is_tied ? sigtimedwait(&wanted, NULL, &patience) : sigwaitinfo(&wanted, NULL);
		if (is_left())
			return 128 + SIGHUP;
		if (got == SIGCONT && stopped)
			wake(program);
		else if (got > 0 && got != SIGCHLD)
			kill(-program, got);
		if (got == SIGCONT)
			stopped = false;
		int status;
		for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
			if (pid == guard)
				return 128 + SIGKILL;
			if (WIFSTOPPED(status)) {
				if (pid == program && !(stopped = report_stopped()))
					wake(program);
				continue;
			}
			if (pid == program)
				return status_of(status);
			if (pid == forwarder)
				forwarder = 0;
		}
		/* Only after a pause: a forwarder that ends at once must not use up the processor. */
		if (waiting && got < 0 && errno == EAGAIN)
			forwarder = start(forward, &before, false);
	}
}
