/*
 * Runs commands one after the other and records what each starts, reads, writes and connects to.
 *
 *   observer BUDGET_MS (NAME LIMIT_MS FILES TOOLS COMMAND)...
 *
 * A command runs where one of FILES exists (names with ':' between them; empty: always) and every one of TOOLS is a
 * program of the PATH. Records are lines of JSON on standard output (record.h):
 *
 *   {"k":"scene","name":NAME}    then what happened ({"k":"left"}: programs ran on after it, and were ended), then one of:
 *   {"k":"end","status":N,"ms":N,"tail":"last output"}     it ended, and so did all that it had started, or was killed
 *   {"k":"absent","tool":NAME}   {"k":"without"}   {"k":"unbudgeted"}      it was not run
 *   {"k":"broken","why":TEXT}    it was stopped: "time", "flood", "start", "unended"
 *
 * and at the end {"k":"done"}. A stream without it is broken too: this program was killed. {"k":"unavailable"}: the
 * kernel does not hand calls over.
 *
 * Compile: cc -static -O2 -std=gnu11 -Wall -Wextra -Werror *.c
 *
 * It ends when its standard input does.
 *
 * The observed tree has the same user. It cannot read or trace this process, which is not dumpable, nor reach its output,
 * and calls that would signal it are refused (calls.c). Where it is killed all the same, no end is written.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "decoys.h"
#include "filter.h"
#include "record.h"
#include "sink.h"

#define SHELL "/bin/bash"
/* Only a container of a rehearsal has it: this program ends every other process that it may signal. */
#define SIGN "/etc/run-claude/observed"
#define WORDS_A_SCENE 5
/* What a command leaves running is observed for this long. */
#define GRACE_MS 1000
#define END_MS 5000
#define POLL_MS 20
#define TAIL 4096
#define MAX_CALLS 3000000L
#define NOT_AVAILABLE 3

struct running {
	int listener, output;
	pid_t first;
};

static char tail[TAIL];
static size_t tail_used;

static long now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void record_only(const char *kind, const char *key, const char *value)
{
	record_open(kind);
	if (key)
		record_text(key, value);
	record_close();
	records_write();
}

/* Makes no call that the filter hands over, but the execve: nobody can read this process before that. */
static void run_command(const char *command, int input, int output)
{
	char *const words[] = {"bash", "-c", (char *)command, NULL};
	setsid();
	dup2(input, 0);
	dup2(output, 1);
	dup2(output, 2);
	close_range(3, ~0U, 0);
	/* The resolver of the C library asks over TCP: a connection can be answered. */
	setenv("RES_OPTIONS", "use-vc timeout:1 attempts:1", 1);
	execve(SHELL, words, environ);
	_exit(127);
}

/*
 * A process that shares the observer's descriptors installs the filter: its listener is then the observer's too. Its child,
 * which has its own descriptors again, becomes the command.
 */
static bool start(const char *command, struct running *scene)
{
	int output[2], answered[2], answer[3] = {-1, EIO, 0};
	int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (input < 0 || pipe2(output, O_CLOEXEC | O_NONBLOCK) < 0 || pipe2(answered, O_CLOEXEC) < 0)
		return false;
	fcntl(output[1], F_SETFL, 0);
	pid_t helper = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (helper == 0) {
		answer[0] = install_filter();
		answer[1] = errno;
		if (answer[0] >= 0) {
			answer[2] = (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
			if (answer[2] == 0)
				run_command(command, input, output[1]);
		}
		if (write(answered[1], answer, sizeof answer) != sizeof answer)
			_exit(1);
		_exit(0);
	}
	bool has_answer = helper > 0 && read(answered[0], answer, sizeof answer) == sizeof answer;
	close(input);
	close(answered[0]);
	close(answered[1]);
	close(output[1]);
	*scene = (struct running){answer[0], output[0], answer[2]};
	errno = answer[1];
	return has_answer && answer[0] >= 0 && answer[2] > 0;
}

static void keep_output(int fd)
{
	char piece[TAIL];
	for (ssize_t length; (length = read(fd, piece, sizeof piece)) > 0;) {
		size_t kept = (size_t)length < TAIL ? (size_t)length : TAIL;
		if (tail_used + kept > TAIL) {
			memmove(tail, tail + tail_used + kept - TAIL, TAIL - kept);
			tail_used = TAIL - kept;
		}
		memcpy(tail + tail_used, piece + length - kept, kept);
		tail_used += kept;
	}
}

/* Observes until everything has ended. Returns why it was stopped; NULL where it was not. */
static const char *observe(const struct running *scene, long until, int *status)
{
	long calls = 0, ended = 0;
	for (;;) {
		struct pollfd waiting[3 + MAX_SINKS] = {
			{.fd = scene->listener, .events = POLLIN},
			{.fd = scene->output, .events = POLLIN},
			{.fd = STDIN_FILENO, .events = POLLIN},
		};
		char byte;
		int sinks = sink_polls(waiting + 3);
		poll(waiting, (nfds_t)(3 + sinks), POLL_MS);
		/* Nobody waits for the result any more. The container ends with this process. */
		if (waiting[2].revents && read(STDIN_FILENO, &byte, 1) <= 0)
			exit(125);
		sink_serve(waiting + 3, sinks, calls_looked_up);
		keep_output(scene->output);
		if (waiting[0].revents & POLLIN) {
			calls_take(scene->listener);
			if (++calls > MAX_CALLS || records_too_many())
				return "flood";
		}
		int state;
		for (pid_t pid; (pid = waitpid(-1, &state, WNOHANG)) > 0;)
			if (pid == scene->first) {
				*status = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
				ended = now_ms();
			}
		/* Nobody is under the filter any more. */
		if (ended && (waiting[0].revents & POLLHUP))
			return NULL;
		if (ended && now_ms() - ended > GRACE_MS) {
			record_only("left", NULL, NULL);
			return NULL;
		}
		if (now_ms() > until)
			return "time";
	}
}

/* Ends whatever is left. False where something does not end. */
static bool end_all(const struct running *scene)
{
	long until = now_ms() + END_MS;
	for (;;) {
		kill(-1, SIGKILL);
		pid_t pid = waitpid(-1, NULL, WNOHANG);
		if (pid < 0 && errno == ECHILD)
			return true;
		if (pid > 0)
			continue;
		if (now_ms() > until)
			return false;
		keep_output(scene->output);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

static void run_scene(const char *command, long limit)
{
	struct running scene;
	long began = now_ms();
	int status = 0;
	records_reset();
	tail_used = 0;
	if (!start(command, &scene)) {
		if (errno == EINVAL || errno == ENOSYS || errno == EPERM) {
			record_only("unavailable", "why", strerror(errno));
			exit(NOT_AVAILABLE);
		}
		record_only("broken", "why", "start");
		return;
	}
	calls_reset(scene.first);
	const char *stopped = observe(&scene, began + limit, &status);
	if (!end_all(&scene) && !stopped)
		stopped = "unended";
	keep_output(scene.output);
	close(scene.listener);
	close(scene.output);
	sink_close_all();
	if (stopped) {
		record_only("broken", "why", stopped);
		return;
	}
	record_open("end");
	record_number("status", status);
	record_number("ms", now_ms() - began);
	record_bytes("tail", tail, tail_used);
	record_close();
	records_write();
}

/* The first of these names for which `has` is `wanted`; NULL where there is none. */
static char *find(char *names, bool wanted, bool (*has)(const char *name))
{
	for (char *rest, *name = strtok_r(names, ":", &rest); name; name = strtok_r(NULL, ":", &rest))
		if (has(name) == wanted)
			return name;
	return NULL;
}

static bool has_file(const char *name)
{
	return access(name, F_OK) == 0;
}

static bool has_tool(const char *name)
{
	char path[4096], places[4096];
	snprintf(places, sizeof places, "%s", getenv("PATH") ? getenv("PATH") : "");
	for (char *rest, *place = strtok_r(places, ":", &rest); place; place = strtok_r(NULL, ":", &rest)) {
		snprintf(path, sizeof path, "%s/%s", place, name);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

int main(int argc, char *argv[])
{
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (argc < 2 || (argc - 2) % WORDS_A_SCENE != 0) {
		fprintf(stderr, "usage: observer BUDGET_MS (NAME LIMIT_MS FILES TOOLS COMMAND)...\n");
		return 2;
	}
	if (access(SIGN, F_OK) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || !sink_open()) {
		perror("observer");
		return 125;
	}
	signal(SIGPIPE, SIG_IGN);
	lay_decoys();
	long until = now_ms() + atol(argv[1]);
	for (char **scene = argv + 2; *scene; scene += WORDS_A_SCENE) {
		record_only("scene", "name", scene[0]);
		char *absent = NULL;
		if (*scene[2] && !find(scene[2], true, has_file))
			record_only("without", NULL, NULL);
		else if ((absent = find(scene[3], false, has_tool)))
			record_only("absent", "tool", absent);
		else if (now_ms() >= until)
			record_only("unbudgeted", NULL, NULL);
		else {
			long limit = atol(scene[1]), left = until - now_ms();
			run_scene(scene[4], limit < left ? limit : left);
		}
	}
	record_only("done", NULL, NULL);
	return 0;
}
