#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter.h"

#if defined __x86_64__
#define NATIVE AUDIT_ARCH_X86_64
#define X32_BIT 0x40000000U
#elif defined __aarch64__
#define NATIVE AUDIT_ARCH_AARCH64
#else
#error "the observer knows amd64 and arm64"
#endif

/* Since Linux 5.19: only a deadly signal interrupts a call that the observer has read. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, (action))
/* Every call of that number. */
#define EACH(number) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), ANSWER(SECCOMP_RET_USER_NOTIF)
/* The low 32 bits of an argument: both machines are little-endian, and the kernel takes these arguments as int. */
#define ARGUMENT(n) ((unsigned int)offsetof(struct seccomp_data, args[n]))
/* A call of that number whose argument has one of two values. Loads the number again afterwards. */
#define WITH(number, n, one, two) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 5), LOAD(ARGUMENT(n)), \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (one), 1, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (two), 0, 1), \
		ANSWER(SECCOMP_RET_USER_NOTIF), LOAD(offsetof(struct seccomp_data, nr))

static struct sock_filter program[] = {
	LOAD(offsetof(struct seccomp_data, arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0),
	ANSWER(SECCOMP_RET_USER_NOTIF),
	LOAD(offsetof(struct seccomp_data, nr)),
#ifdef X32_BIT
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1),
	ANSWER(SECCOMP_RET_USER_NOTIF),
#endif
	EACH(SYS_openat),
	EACH(SYS_execve),
	EACH(SYS_execveat),
	EACH(SYS_exit_group),
	EACH(SYS_openat2),
	EACH(SYS_connect),
	EACH(SYS_bind),
	EACH(SYS_sendto),
	EACH(SYS_sendmsg),
	EACH(SYS_sendmmsg),
	EACH(SYS_unlinkat),
	EACH(SYS_renameat2),
	EACH(SYS_linkat),
	EACH(SYS_symlinkat),
	EACH(SYS_truncate),
	EACH(SYS_kill),
	EACH(SYS_tkill),
	EACH(SYS_tgkill),
	EACH(SYS_rt_sigqueueinfo),
	EACH(SYS_rt_tgsigqueueinfo),
	EACH(SYS_pidfd_open),
	EACH(SYS_prlimit64),
	EACH(SYS_ptrace),
	EACH(SYS_process_vm_readv),
	EACH(SYS_process_vm_writev),
	EACH(SYS_io_uring_setup),
	EACH(SYS_seccomp),
#ifdef SYS_renameat
	EACH(SYS_renameat),
#endif
#ifdef SYS_open
	EACH(SYS_open),
	EACH(SYS_creat),
	EACH(SYS_unlink),
	EACH(SYS_rename),
	EACH(SYS_link),
	EACH(SYS_symlink),
#endif
	WITH(SYS_prctl, 0, PR_SET_DUMPABLE, PR_SET_SECCOMP),
	/* Signals that the kernel sends for a descriptor may end the observer too. */
	WITH(SYS_fcntl, 1, F_SETOWN, F_SETOWN_EX),
	ANSWER(SECCOMP_RET_ALLOW),
};

int install_filter(void)
{
	struct sock_fprog filter = {.len = sizeof program / sizeof *program, .filter = program};
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &filter);
	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
	return (int)fd;
}
