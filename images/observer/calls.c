/*
 * SECURITY LIMITATION: the kernel reads the memory of an argument again after this program has: another thread can change
 * a path or an address in between. The program that was started is therefore read from /proc/PID/exe afterwards.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls.h"
#include "network.h"
#include "record.h"
#include "seen.h"
#include "tracee.h"

#define ON 0 /* go on: the kernel carries the call out */

/* Processes that called execve and whose new program was not read yet. */
#define STARTED 65536
static pid_t started[STARTED];
static pid_t first_process;
static pid_t last_evader;
static const char *last_evasion;
/* The last process that asked for a name: the answer is given without a process. */
static struct process last_asker;

void calls_reset(pid_t first)
{
	memset(started, 0, sizeof started);
	first_process = first;
	last_evader = 0;
	last_evasion = NULL;
	last_asker = (struct process){0};
}

void open_record_of(const char *kind, const struct process *who)
{
	record_open(kind);
	record_number("pid", who->pid);
	record_number("parent", who->parent);
}

void calls_asks(const struct process *who)
{
	last_asker = *who;
}

void calls_looked_up(const char *name)
{
	open_record_of("lookup", &last_asker);
	record_text("name", name);
	record_close();
}

int evade(const struct process *who, const char *what, int error)
{
	/* What a process does in a loop is one record. */
	if (last_evader != who->pid || last_evasion != what) {
		open_record_of("evaded", who);
		record_text("why", what);
		record_close();
	}
	last_evader = who->pid;
	last_evasion = what;
	return error;
}

int misread(const struct process *who, enum reading got)
{
	return got == READ_REFUSED ? evade(who, "unreadable", ON) : EFAULT;
}

/* A slot of the process: its own, or an empty one. */
static pid_t *slot_of(pid_t pid)
{
	for (int i = 0; i < STARTED; i++) {
		pid_t *slot = &started[((unsigned int)pid + (unsigned int)i) % STARTED];
		if (*slot == pid || *slot == 0)
			return slot;
	}
	return NULL;
}

/* Records which program a process runs, once after each execve. */
static void read_program(const struct process *who)
{
	char program[PATH_SIZE];
	pid_t *slot = slot_of(who->pid);
	if (!slot || *slot != who->pid)
		return;
	/* Not empty: those after it must be found. */
	*slot = -1;
	if (read_link(who->thread, "exe", program, sizeof program) == READ_REFUSED) {
		evade(who, "unreadable", ON);
		return;
	}
	open_record_of("runs", who);
	record_text("program", program);
	record_close();
}

/* What the kernel will see in a program file. */
static int kind_of_file(const char *path, bool *is_script)
{
	unsigned char head[5] = {0};
	struct stat about;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno;
	ssize_t length = read(fd, head, sizeof head);
	bool is_file = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
	close(fd);
	if (!is_file)
		return EISDIR;
	*is_script = length >= 2 && memcmp(head, "#!", 2) == 0;
	return length == 5 && memcmp(head, "\177ELF\001", 5) == 0 ? ENOEXEC : 0;
}

static void record_words(const struct process *who, unsigned long long words)
{
	record_list_open("argv");
	for (int i = 0; i < 16; i++, words += 8) {
		unsigned long long at = 0;
		char word[257];
		bool is_cut;
		if (read_memory(who->thread, words, &at, sizeof at) != READ_WHOLE || at == 0 ||
		    read_string(who->thread, at, word, sizeof word, &is_cut) != READ_WHOLE)
			break;
		record_item(word);
	}
	record_list_close();
}

static int start_program(const struct process *who, int folder, unsigned long long name, unsigned long long words)
{
	char path[PATH_SIZE], real[PATH_SIZE], cwd[PATH_SIZE];
	bool is_script = false;
	/* This one cannot be read before its first execve, and what it starts is known. */
	if (who->pid == first_process) {
		first_process = 0;
		return ON;
	}
	enum reading got = read_string(who->thread, name, path, sizeof path, NULL);
	if (got == READ_WHOLE)
		got = real_path(who->thread, folder, path, real);
	if (got != READ_WHOLE)
		return misread(who, got);
	/* A try that the kernel will refuse, as a search along PATH makes many. */
	if (access(real, X_OK) < 0)
		return ON;
	int problem = kind_of_file(real, &is_script);
	if (problem == ENOEXEC)
		return evade(who, "32-bit", ENOEXEC);
	if (problem == EISDIR)
		return ON;
	if (problem != 0)
		evade(who, "unreadable", ON);
	pid_t *slot = slot_of(who->pid);
	if (!slot)
		return evade(who, "flood", EAGAIN);
	*slot = who->pid;
	open_record_of("exec", who);
	record_text("path", real);
	record_number("script", is_script);
	record_text("cwd", read_link(who->thread, "cwd", cwd, sizeof cwd) == READ_WHOLE ? cwd : "?");
	record_words(who, words);
	record_close();
	return ON;
}

static bool is_own(int pid)
{
	return pid == 1 || pid == -1 || pid == getpid() || pid == -getpgrp() || pid == -1 * (int)getsid(0);
}

/* A call whose target is another process: the tree's own are nobody's business. */
static int reach(const struct process *who, int pid)
{
	return is_own(pid) ? evade(who, "signal", EPERM) : ON;
}

static int call(const struct process *who, int listener, const struct seccomp_notif *asked)
{
	const unsigned long long *a = (const unsigned long long *)asked->data.args;
	switch (asked->data.nr) {
	case SYS_execve:
		return start_program(who, AT_FDCWD, a[0], a[1]);
	case SYS_execveat:
		return start_program(who, (int)a[0], a[1], a[2]);
	case SYS_exit_group:
		return ON;
	case SYS_kill:
	case SYS_tkill:
	case SYS_rt_sigqueueinfo:
	case SYS_pidfd_open:
		return reach(who, (int)a[0]);
	case SYS_tgkill:
	case SYS_rt_tgsigqueueinfo:
		return is_own((int)a[0]) ? reach(who, (int)a[0]) : reach(who, (int)a[1]);
	case SYS_prlimit64:
		return (int)a[0] == 0 ? ON : reach(who, (int)a[0]);
	case SYS_fcntl:
		/* The other form has its target in memory, where a second thread can change it. */
		return (int)a[1] == F_SETOWN ? reach(who, (int)a[2]) : evade(who, "signal", EPERM);
	case SYS_prctl:
		return evade(who, (int)a[0] == PR_SET_DUMPABLE ? "unreadable" : "filter", EPERM);
	case SYS_seccomp:
		return evade(who, "filter", EPERM);
	case SYS_ptrace:
	case SYS_process_vm_readv:
	case SYS_process_vm_writev:
		return evade(who, "trace", EPERM);
	case SYS_io_uring_setup:
		return evade(who, "io_uring", ENOSYS);
	case SYS_connect:
	case SYS_bind:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
		return see_network(who, listener, asked);
	default:
		return see_file(who, asked);
	}
}

static bool is_native(unsigned int arch, int number)
{
#if defined __x86_64__
	return arch == 0xc000003eU && number < 0x40000000;
#else
	(void)number;
	return arch == 0xc00000b7U;
#endif
}

bool calls_take(int listener)
{
	struct seccomp_notif asked = {0};
	struct seccomp_notif_resp answer = {0};
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0)
		return errno == EINTR || errno == ENOENT;
	struct process who;
	/* It was killed in the meantime. */
	if (!find_process((pid_t)asked.pid, &who))
		return true;
	read_program(&who);
	int error = is_native(asked.data.arch, asked.data.nr) ? call(&who, listener, &asked) : evade(&who, "32-bit", EPERM);
	answer.id = asked.id;
	if (error == ON)
		answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else if (error != DONE)
		answer.error = -error;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	return true;
}
