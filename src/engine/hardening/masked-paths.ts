/**
 * What no container of ours may read: it reads as empty. Giving a list replaces the engine's default, so the default
 * of every supported engine comes first; ours follow: facts about the host that nothing people run inside needs.
 */
export const MASKED_PATHS: readonly string[] = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/sys/devices/virtual/powercap',
  '/sys/firmware',
  // Ours: the kernel's command line, layout and configuration.
  '/proc/bootconfig',
  '/proc/cmdline',
  '/proc/config.gz',
  '/proc/iomem',
  '/proc/ioports',
  '/proc/kallsyms',
  '/proc/modules',
  '/proc/vmallocinfo',
  // Ours: what else runs on the host and on which hardware.
  '/proc/buddyinfo',
  '/proc/consoles',
  '/proc/crypto',
  '/proc/diskstats',
  '/proc/dma',
  '/proc/driver',
  '/proc/key-users',
  '/proc/locks',
  '/proc/mdstat',
  '/proc/misc',
  '/proc/pagetypeinfo',
  '/proc/partitions',
  '/proc/pressure',
  '/proc/schedstat',
  '/proc/slabinfo',
  '/proc/softirqs',
  '/proc/swaps',
  '/proc/zoneinfo',
  '/sys/block',
  '/sys/devices/virtual/block',
  '/sys/devices/virtual/dmi',
  '/sys/fs/bpf',
  '/sys/fs/pstore',
  '/sys/hypervisor',
  '/sys/kernel/debug',
  '/sys/kernel/security',
  '/sys/kernel/tracing',
  '/sys/module',
  '/sys/power',
];

/** The engine's default, by name: giving one of the two lists must not lose the other. Ours follow. */
export const READONLY_PATHS: readonly string[] = [
  '/proc/bus',
  '/proc/fs',
  '/proc/irq',
  '/proc/sys',
  '/proc/sysrq-trigger',
  // Ours: with cgroup v1 the directory of hierarchies is a tmpfs that uid 0 inside may fill (Docker 26).
  '/sys/fs/cgroup',
];

/** Engines open low ports and ping sockets to everyone in a container's network; ours get the kernel's own defaults. */
export const SYSCTLS: Readonly<Record<string, string>> = {
  'net.ipv4.ip_unprivileged_port_start': '1024',
  'net.ipv4.ping_group_range': '1 0',
};
