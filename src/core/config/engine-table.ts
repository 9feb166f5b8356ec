import { z } from 'zod';
import type { NamedEngine } from '../types/engine.ts';
import { DEFAULT_ENGINE } from './default-engine.ts';

const NAME = /^[a-z][a-z0-9-]{0,31}$/;
const HOST = /^(unix:\/\/\/|(tcp|https?|ssh):\/\/[^\s/-])\S*$/;

/** `[engine.NAME]`. */
const table = z
  .strictObject({
    host: z.string().regex(HOST, 'unix:///PATH, tcp://HOST:PORT or ssh://USER@HOST'),
    'cert-path': z
      .string()
      .regex(/^(~?\/)/, 'an absolute path, or one that starts with ~/')
      .optional(),
    'tls-verify': z.boolean().optional(),
  })
  .refine((one) => /^(tcp|https):/.test(one.host) || (one['cert-path'] ?? one['tls-verify']) === undefined, {
    error: 'cert-path and tls-verify belong to a host with tcp://',
  });

/** The `[engine.NAME]` tables of a configuration file. */
export const engineTables = z
  .record(z.string(), table)
  .superRefine((tables, context) => {
    for (const name of Object.keys(tables)) {
      const message =
        name === DEFAULT_ENGINE
          ? `${DEFAULT_ENGINE} is the engine that the docker command would use`
          : 'a name has small letters, digits and -';
      if (name === DEFAULT_ENGINE || !NAME.test(name)) context.addIssue({ code: 'custom', path: [name], message });
    }
  })
  .transform((tables) =>
    Object.entries(tables).map(
      ([name, { host, 'cert-path': certPath, 'tls-verify': tlsVerify }]): NamedEngine => ({
        name,
        host,
        ...(certPath === undefined ? {} : { certPath }),
        ...(tlsVerify === undefined ? {} : { tlsVerify }),
      }),
    ),
  );
