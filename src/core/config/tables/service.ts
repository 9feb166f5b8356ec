import { z } from 'zod';
import type { Service } from '../../types/policy.ts';
import { isPackageName, isProjectPath } from '../values/environment.ts';
import { parseDurationMs, parseSizeMb } from '../values/quantities.ts';
import { MAX_SERVICES, startOrder, whyNotTogether } from '../values/service-order.ts';
import { SERVICE_KINDS } from './service-kinds.ts';

const MEMORY_MB = 1024;
const DISK_MB = 4096;
const READY_MS = 120_000;
const MAX_COMMAND_CHARACTERS = 4000;
const MAX_WORDS = 100;
const MAX_VARIABLES = 100;
const MAX_FILES = 100;
/** Ports of the agent's loopback that run-claude itself listens on. */
const OWN_PORTS: readonly number[] = [47_801, 47_802];
/** The name is part of names of the engine's objects, and a host name. */
const NAME = /^(?!localhost$|sandbox$|ip6-)[a-z]([a-z0-9-]{0,29}[a-z0-9])?$/;
/** Places in which a program keeps its data. Others have files that it runs or that run-claude needs. */
const DATA = /^\/(?:data|srv|var\/lib|var\/opt|bitnami|opt|mnt|home)(?:\/[A-Za-z0-9._-]+)*$/;

const text = z
  .string()
  .min(1)
  .max(MAX_COMMAND_CHARACTERS)
  .refine((one) => !one.includes('\0'), 'a NUL character');

const size = (minMb: number) =>
  z.string().transform((words, context) => {
    const mb = parseSizeMb(words);
    if (mb !== undefined && mb >= minMb) return mb;
    context.addIssue({ code: 'custom', message: `a size of at least ${minMb}m, such as 512m or 2g` });
    return z.NEVER;
  });

const duration = z.string().transform((words, context) => {
  const ms = parseDurationMs(words);
  if (ms !== undefined) return ms;
  context.addIssue({ code: 'custom', message: 'a duration, such as 30s or 2m' });
  return z.NEVER;
});

const serviceTable = z
  .strictObject({
    name: z.string().regex(NAME, 'small letters, digits and -, at most 31 characters'),
    image: z
      .string()
      .regex(/^[\w][\w./:@-]{0,254}$/, 'the name of an image')
      .optional(),
    packages: z.array(z.string().refine(isPackageName, 'the name of a Debian package')).max(MAX_WORDS).default([]),
    command: z.union([text, z.array(text).min(1).max(MAX_WORDS)]).optional(),
    port: z
      .int()
      .min(1)
      .max(65_535)
      .refine((port) => !OWN_PORTS.includes(port), { error: 'run-claude itself listens there' })
      .optional(),
    env: z
      .record(z.string().regex(/^[A-Za-z_]\w*$/, 'the name of a variable'), z.string().max(MAX_COMMAND_CHARACTERS))
      .refine((env) => Object.keys(env).length <= MAX_VARIABLES, `more than ${MAX_VARIABLES} variables`)
      .default({}),
    ready: text.optional(),
    'ready-timeout': duration.default(READY_MS),
    data: z
      .string()
      .regex(DATA, 'a directory below /data, /srv, /var/lib, /var/opt, /opt, /mnt or /home')
      .refine((dir) => !dir.split('/').some((part) => part === '.' || part === '..'), 'a path without . and ..')
      .default('/data'),
    seed: text.optional(),
    files: z.array(z.string().refine(isProjectPath, 'a path in the project')).max(MAX_FILES).default([]),
    reaches: z.array(z.string()).max(MAX_SERVICES).default([]),
    memory: size(16).default(MEMORY_MB),
    disk: size(16).default(DISK_MB),
  })
  .transform((table, context): Service => {
    const kind = Object.entries(SERVICE_KINDS).find(([name]) => table.packages.includes(name))?.[1];
    // A port of the kind is that of its command.
    const { command = kind?.command, port = table.command === undefined ? kind?.port : undefined } = table;
    const ready = table.ready ?? (table.command === undefined && table.port === undefined ? kind?.ready : undefined);
    if (table.image !== undefined && table.packages.length > 0) {
      context.addIssue({ code: 'custom', path: ['packages'], message: 'either image or packages, not both' });
      return z.NEVER;
    }
    if (command === undefined || port === undefined) {
      const message = `missing; run-claude knows it only for the packages ${Object.keys(SERVICE_KINDS).join(', ')}`;
      context.addIssue({ code: 'custom', path: [command === undefined ? 'command' : 'port'], message });
      return z.NEVER;
    }
    if (table.port !== undefined && table.command === undefined && table.port !== kind?.port) {
      context.addIssue({ code: 'custom', path: ['port'], message: `its command listens on ${kind?.port}: write both` });
      return z.NEVER;
    }
    if (table.files.length > 0 && table.seed === undefined) {
      context.addIssue({ code: 'custom', path: ['files'], message: 'files are what seed reads: add seed' });
      return z.NEVER;
    }
    const { name, image, env, data, seed, reaches, memory, disk } = table;
    return {
      name,
      ...(image === undefined ? {} : { image }),
      packages: [...new Set(table.packages)].sort(),
      command: typeof command === 'string' ? ['/bin/bash', '-c', command] : command,
      port,
      env,
      ...(ready === undefined ? {} : { ready }),
      readyMs: table['ready-timeout'],
      data,
      ...(seed === undefined ? {} : { seed }),
      files: [...new Set(table.files)].sort(),
      reaches: [...new Set(reaches)],
      memoryMb: memory,
      diskMb: disk,
    };
  });

/** The `[[service]]` tables of a configuration file, each after those that it reaches. */
export const serviceTables = z
  .array(serviceTable)
  .max(MAX_SERVICES)
  .default([])
  .transform((all, context): readonly Service[] => {
    const wrong = whyNotTogether(all);
    if (wrong === undefined) return startOrder(all) ?? [];
    context.addIssue({ code: 'custom', message: wrong });
    return z.NEVER;
  });
