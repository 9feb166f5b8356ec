/* What probes.c tries. */
#define BLOCK (-4096) /* a zeroed block of memory */
#define PATH (-4097)  /* "/tmp" */
#ifndef SYS_modify_ldt
#define SYS_modify_ldt -1
#define SYS_iopl -1
#define SYS_ioperm -1
#define SYS_uselib -1
#define SYS_ustat -1
#define SYS_sysfs -1
#define SYS_mknod -1
#endif
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

struct call {
	const char *name, *layer;
	long number;
	long args[6];
	int expected;
};

/* Line of /proc/self/status, value wanted, layer. */
static const char *const statuses[][3] = {
	{"CapInh", "0000000000000000", "capabilities"}, {"CapPrm", "0000000000000000", "capabilities"}, {"CapEff", "0000000000000000", "capabilities"},
	{"CapBnd", "0000000000000000", "capabilities"}, {"CapAmb", "0000000000000000", "capabilities"}, {"NoNewPrivs", "1", "no new privileges"}, {"Seccomp", "2", "seccomp"},
};

static const struct call calls[] = {
	{"unshare-user", "seccomp", SYS_unshare, {0x10000000}, EPERM},
	{"unshare-mount", "seccomp", SYS_unshare, {0x20000}, EPERM},
	{"unshare-network", "seccomp", SYS_unshare, {0x40000000}, EPERM},
	{"unshare-process", "seccomp", SYS_unshare, {0x20000000}, EPERM},
	{"unshare-ipc", "seccomp", SYS_unshare, {0x8000000}, EPERM},
	{"unshare-uts", "seccomp", SYS_unshare, {0x4000000}, EPERM},
	{"unshare-cgroup", "seccomp", SYS_unshare, {0x2000000}, EPERM},
	{"unshare-time", "seccomp", SYS_unshare, {0x80}, EPERM},
	{"clone-user", "seccomp", SYS_clone, {0x10000011}, EPERM},
	{"clone-mount", "seccomp", SYS_clone, {0x20011}, EPERM},
	{"clone3", "seccomp", SYS_clone3, {BLOCK, 88}, ENOSYS},
	{"setns", "seccomp", SYS_setns, {-1, 0}, EPERM},
	{"ptrace-attach", "seccomp", SYS_ptrace, {16, 0x3fffffff}, EPERM},
	{"ptrace-traceme", "seccomp", SYS_ptrace, {0}, EPERM},
	{"process_vm_readv", "seccomp", SYS_process_vm_readv, {0x3fffffff, BLOCK, 1, BLOCK, 1, 0}, EPERM},
	{"process_vm_writev", "seccomp", SYS_process_vm_writev, {0x3fffffff, BLOCK, 1, BLOCK, 1, 0}, EPERM},
	{"pidfd_getfd", "seccomp", SYS_pidfd_getfd, {-1, 0, 0}, EPERM},
	{"process_madvise", "seccomp", SYS_process_madvise, {-1, BLOCK, 1, 0, 0}, EPERM},
	{"kcmp", "seccomp", SYS_kcmp, {1, 1, 0, 0, 0}, EPERM},
	{"io_uring_setup", "seccomp", SYS_io_uring_setup, {1, BLOCK}, EPERM},
	{"io_uring_enter", "seccomp", SYS_io_uring_enter, {-1}, EPERM},
	{"io_uring_register", "seccomp", SYS_io_uring_register, {-1}, EPERM},
	{"userfaultfd", "seccomp", SYS_userfaultfd, {0}, EPERM},
	{"bpf", "seccomp", SYS_bpf, {0, BLOCK, 72}, EPERM},
	{"perf_event_open", "seccomp", SYS_perf_event_open, {BLOCK, 0, -1, -1, 0}, EPERM},
	{"keyctl", "seccomp", SYS_keyctl, {0, -3, 0}, EPERM},
	{"add_key", "seccomp", SYS_add_key, {0, 0, 0, 0, -2}, EPERM},
	{"request_key", "seccomp", SYS_request_key, {0, 0, 0, -2}, EPERM},
	{"mount", "seccomp", SYS_mount, {0, PATH, 0, 0, 0}, EPERM},
	{"umount2", "seccomp", SYS_umount2, {0, 0}, EPERM},
	{"pivot_root", "seccomp", SYS_pivot_root, {0, 0}, EPERM},
	{"open_tree", "seccomp", SYS_open_tree, {-1, 0, 0}, EPERM},
	{"move_mount", "seccomp", SYS_move_mount, {-1, 0, -1, 0, 0}, EPERM},
	{"fsopen", "seccomp", SYS_fsopen, {0, 0}, EPERM},
	{"fsconfig", "seccomp", SYS_fsconfig, {-1, 0, 0, 0, 0}, EPERM},
	{"fsmount", "seccomp", SYS_fsmount, {-1, 0, 0}, EPERM},
	{"fspick", "seccomp", SYS_fspick, {-1, 0, 0}, EPERM},
	{"mount_setattr", "seccomp", SYS_mount_setattr, {-1, 0, 0, 0, 0}, EPERM},
	{"chroot", "seccomp", SYS_chroot, {0}, EPERM},
	{"name_to_handle_at", "seccomp", SYS_name_to_handle_at, {-1, 0, 0, 0, 0}, EPERM},
	{"open_by_handle_at", "seccomp", SYS_open_by_handle_at, {-1, BLOCK, 0}, EPERM},
	{"init_module", "seccomp", SYS_init_module, {0, 0, 0}, EPERM},
	{"finit_module", "seccomp", SYS_finit_module, {-1, 0, 0}, EPERM},
	{"delete_module", "seccomp", SYS_delete_module, {0, 0}, EPERM},
	{"kexec_load", "seccomp", SYS_kexec_load, {0, 0, 0, -1}, EPERM},
	{"syslog", "seccomp", SYS_syslog, {10, 0, 0}, EPERM},
	{"swapon", "seccomp", SYS_swapon, {0, 0}, EPERM},
	{"acct", "seccomp", SYS_acct, {-1}, EPERM},
	{"quotactl", "seccomp", SYS_quotactl, {-1, 0, 0, 0}, EPERM},
	{"fanotify_init", "seccomp", SYS_fanotify_init, {-1, 0}, EPERM},
	{"fanotify_mark", "seccomp", SYS_fanotify_mark, {-1, 0, 0, -1, 0}, EPERM},
	{"vmsplice", "seccomp", SYS_vmsplice, {-1, 0, 0, 0}, EPERM},
	{"remap_file_pages", "seccomp", SYS_remap_file_pages, {0, 0, 0, 0, 0}, EPERM},
	{"memfd_secret", "seccomp", SYS_memfd_secret, {-1}, EPERM},
	{"modify_ldt", "seccomp", SYS_modify_ldt, {0, BLOCK, 64}, EPERM},
	{"iopl", "seccomp", SYS_iopl, {0}, EPERM},
	{"ioperm", "seccomp", SYS_ioperm, {0, 1, 0}, EPERM},
	{"uselib", "seccomp", SYS_uselib, {0}, EPERM},
	{"ustat", "seccomp", SYS_ustat, {0, BLOCK}, EPERM},
	{"sysfs", "seccomp", SYS_sysfs, {3}, EPERM},
	{"adjtimex", "seccomp", SYS_adjtimex, {BLOCK}, EPERM},
	{"clock_settime", "seccomp", SYS_clock_settime, {99, BLOCK}, EPERM},
	{"settimeofday", "seccomp", SYS_settimeofday, {0, 0}, EPERM},
	{"clock_adjtime", "seccomp", SYS_clock_adjtime, {99, BLOCK}, EPERM},
	{"reboot", "seccomp", SYS_reboot, {0, 0, 0, 0}, EPERM},
	{"swapoff", "seccomp", SYS_swapoff, {0}, EPERM},
	{"kexec_file_load", "seccomp", SYS_kexec_file_load, {-1, -1, 0, 0, -1}, EPERM},
	{"lookup_dcookie", "seccomp", SYS_lookup_dcookie, {0, 0, 0}, EPERM},
	{"process_mrelease", "seccomp", SYS_process_mrelease, {-1, 0}, EPERM},
	{"quotactl_fd", "seccomp", SYS_quotactl_fd, {-1, 0, 0, 0}, EPERM},
	{"statmount", "seccomp", 457, {BLOCK, BLOCK, 8, 0}, EPERM},
	{"listmount", "seccomp", 458, {BLOCK, BLOCK, 8, 0}, EPERM},
	{"get_mempolicy", "seccomp", SYS_get_mempolicy, {0, 0, 0, 0, 0}, EPERM},
	{"set_mempolicy", "seccomp", SYS_set_mempolicy, {0, 0, 0}, EPERM},
	{"migrate_pages", "seccomp", SYS_migrate_pages, {0, 0, 0, 0}, EPERM},
	{"setdomainname", "seccomp", SYS_setdomainname, {PATH, 4}, EPERM},
	{"mbind", "seccomp", SYS_mbind, {0, 0, 0, 0, 0, 0}, EPERM},
	{"move_pages", "seccomp", SYS_move_pages, {0, 0, 0, 0, 0, 0}, EPERM},
	{"personality-exec", "seccomp", SYS_personality, {0x400000}, EPERM},
	{"personality-aslr", "seccomp", SYS_personality, {0x40000}, EPERM},
	{"personality-high-bits", "seccomp", SYS_personality, {0x100040000}, EPERM},
	{"dumpable-again", "seccomp", SYS_prctl, {4, 1}, EPERM},
	{"dumpable-again-high-bits", "seccomp", SYS_prctl, {0x100000004, 1}, EPERM},
	{"tiocsti", "seccomp", SYS_ioctl, {-1, 0x5412, BLOCK}, EPERM},
	{"tiocsti-high-bits", "seccomp", SYS_ioctl, {-1, 0x100005412, BLOCK}, EPERM},
	{"tioclinux", "seccomp", SYS_ioctl, {-1, 0x541c, BLOCK}, EPERM},
	{"tiocsetd", "seccomp", SYS_ioctl, {-1, 0x5423, BLOCK}, EPERM},
	{"mknod-char", "seccomp", SYS_mknod, {PATH, 020666, 0x101}, EPERM},
	{"mknod-block", "seccomp", SYS_mknod, {PATH, 060666, 0x800}, EPERM},
	{"mknod-whiteout", "seccomp", SYS_mknodat, {-100, PATH, 020666, 0}, EPERM},
	{"vsock-high-bits", "seccomp", SYS_socket, {0x100000028, 1, 0}, EPERM},
	{"raw-ipv4", "seccomp", SYS_socket, {2, 3, 1}, EPERM},
	{"raw-ipv6", "seccomp", SYS_socket, {10, 3, 58}, EPERM},
	{"ping", "seccomp", SYS_socket, {2, 2, 1}, EPERM},
	{"dccp", "seccomp", SYS_socket, {2, 6, 33}, EPERM},
	{"l2tp", "seccomp", SYS_socket, {2, 2, 115}, EPERM},
	{"sctp", "seccomp", SYS_socket, {2, 1, 132}, EPERM},
	{"sctp-by-type", "seccomp", SYS_socket, {2, 5, 0}, EPERM},
	{"udplite", "seccomp", SYS_socket, {2, 2, 136}, EPERM},
	{"mptcp", "seccomp", SYS_socket, {2, 1, 262}, EPERM},
	{"setuid-0", "capabilities", SYS_setresuid, {12345, 12345, 12345}, EPERM},
	{"setgid-0", "capabilities", SYS_setresgid, {12345, 12345, 12345}, EPERM},
	{"setgroups", "capabilities", SYS_setgroups, {0, 0}, EPERM},
	{"chown-away", "capabilities", SYS_fchownat, {-100, PATH, 12345, 12345, 0}, EPERM},
	{"ambient-raise", "capabilities", SYS_prctl, {47, 2, 21, 0, 0}, EPERM},
	{"bounding-drop", "capabilities", SYS_prctl, {24, 21, 0, 0, 0}, EPERM},
	{"raise-priority", "capabilities", SYS_setpriority, {0, 0, -10}, EACCES},
	{"sethostname", "seccomp", SYS_sethostname, {PATH, 4}, EPERM},
};

static const char *const unwritable[] = {
	"/", "/etc", "/usr", "/usr/bin", "/usr/lib/run-claude", "/opt", "/root", "/var", "/boot",
	"/etc/passwd", "/etc/ld.so.preload", "/etc/gitconfig", "/etc/claude-code", "/usr/lib/x86_64-linux-gnu",
	"/usr/local/bin", "/opt/claude",
};

static const char *const unwritable_kernel[] = {
	"/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/drop_caches",
	"/proc/sys/kernel/ns_last_pid", "/proc/sys/fs/binfmt_misc/register", "/proc/irq/default_smp_affinity",
	"/sys/kernel/uevent_helper", "/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids",
	"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory/release_agent",
};

static const char *const unreadable[] = {
	"/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/cmdline", "/proc/kallsyms", "/proc/modules",
	"/proc/iomem", "/proc/partitions", "/proc/diskstats", "/proc/interrupts", "/proc/config.gz",
	"/sys/firmware", "/sys/module", "/sys/block", "/sys/kernel/debug", "/sys/kernel/tracing",
	"/sys/devices/virtual/dmi", "/sys/devices/virtual/powercap", "/sys/hypervisor", "/sys/power",
	"/sys/devices/virtual/block", "/sys/fs/pstore", "/proc/softirqs", "/proc/vmallocinfo", "/proc/swaps",
	"/proc/key-users", "/proc/ioports", "/proc/pressure", "/proc/driver", "/proc/buddyinfo", "/proc/consoles",
	"/proc/crypto", "/proc/dma", "/proc/locks", "/proc/misc", "/proc/zoneinfo",
};

static const char *const absent[] = {
	"/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock",
	"/dev/kvm", "/dev/fuse", "/dev/mem", "/dev/kmsg", "/dev/net/tun", "/dev/loop-control", "/dev/sda", "/dev/dri",
	"/usr/bin/nsenter", "/usr/bin/unshare", "/usr/sbin/chroot", "/bin/mount", "/bin/su", "/usr/bin/sudo",
};

static const struct mount_flags {
	const char *path;
	unsigned long flags;
} mounts[] = {
	{"/", ST_RDONLY},
	{"/tmp", ST_NOSUID | ST_NODEV},
	{"/run", ST_NOSUID | ST_NODEV | ST_NOEXEC},
	{"/dev/shm", ST_NOSUID | ST_NODEV | ST_NOEXEC},
	{"/proc", ST_NOSUID | ST_NODEV | ST_NOEXEC},
	{"/sys", ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC},
};
