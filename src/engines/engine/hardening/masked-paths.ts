/**
 * Paths that read as empty in every container. A list replaces the engine's default, so the defaults of all supported
 * engines come first. Facts about the host that no program inside needs follow.
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
  // Added: the kernel's command line, layout and configuration.
  '/proc/bootconfig',
  '/proc/cmdline',
  '/proc/config.gz',
  '/proc/iomem',
  '/proc/ioports',
  '/proc/kallsyms',
  '/proc/modules',
  '/proc/vmallocinfo',
  // Added: what else runs on the host and on which hardware.
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

/** The engines' default: a request with one of the two lists must have the other too. Additions follow. */
export const READONLY_PATHS: readonly string[] = [
  '/proc/bus',
  '/proc/fs',
  '/proc/irq',
  '/proc/sys',
  '/proc/sysrq-trigger',
  // Added: with cgroup v1 the directory of hierarchies is a tmpfs that uid 0 inside may fill (Docker 26).
  '/sys/fs/cgroup',
];

/** Engines allow low ports and ping sockets to every user of a container. These are the kernel's own defaults. */
export const SYSCTLS: Readonly<Record<string, string>> = {
  'net.ipv4.ip_unprivileged_port_start': '1024',
  'net.ipv4.ping_group_range': '1 0',
};
