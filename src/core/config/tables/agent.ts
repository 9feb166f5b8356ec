import { z } from 'zod';
import { AGENT_NAMES } from '../../types/agent/agent-package.ts';
import type { OwnAgent } from '../../types/agent/own-agent.ts';

/** Words before `--agent`'s value: letters, digits, `-`. */
const NAME = /^[a-z][a-z0-9-]{0,31}$/;
const PROGRAM = /^(?!-)[\w.+-]{1,64}$/;
const PACKAGE = /^(@[a-z0-9~][\w.~-]*\/)?[a-z0-9~][\w.~-]*@\d[\w.+-]{0,63}$/;
const INTEGRITY = /^sha512-[A-Za-z0-9+/]{86}==$/;
const VARIABLE = /^[A-Za-z_]\w*$/;
const URL_PLAIN = /^https?:\/\/[^\s?#@]+$/;
/** A header's value. */
const PLACEHOLDER = /^[\x21-\x7e]{8,200}$/;

/** A path below a directory, without a step out of it. */
function isBelow(path: string): boolean {
  const parts = path.split('/');
  return parts.every((part) => part !== '' && part !== '.' && part !== '..') && /^[\x21-\x7e][\x20-\x7e]*$/.test(path);
}

const below = z.string().refine(isBelow, { error: 'a path below the directory, without . and ..' });
const words = z.array(z.string().min(1));

const DEFAULT_PLACEHOLDER = 'sk-placeholder-of-run-claude-the-real-one-is-outside';

/** `[agents.NAME]`. */
const table = z.strictObject({
  title: z.string().min(1).max(40).optional(),
  program: words.min(1).refine(([first = '']) => PROGRAM.test(first), {
    error: 'the first word is the name of a program',
  }),
  package: z
    .strictObject({
      name: z.string().regex(PACKAGE, 'a package with its version: name@1.2.3'),
      integrity: z.string().regex(INTEGRITY, 'sha512-…, as npm view NAME@VERSION dist.integrity prints it'),
      entry: below,
    })
    .optional(),
  copy: z.array(below).default([]),
  instructions: below.optional(),
  print: words.default([]),
  'skip-permissions': words.default([]),
  env: z.record(z.string().regex(VARIABLE, 'the name of a variable'), z.string()).default({}),
  provider: z
    .strictObject({
      api: z.enum(['anthropic', 'openai', 'gemini']),
      url: z.string().regex(URL_PLAIN, 'https://HOST, without a login and a query'),
      key: z.string().regex(VARIABLE, 'the name of the variable that has the key'),
      placeholder: z.string().regex(PLACEHOLDER, '8 to 200 plain characters').default(DEFAULT_PLACEHOLDER),
    })
    .optional(),
});

/** The `[agents.NAME]` tables of a configuration file. */
export const agentTables = z
  .record(z.string(), table)
  .default({})
  .superRefine((tables, context) => {
    const refuse = (name: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [name], message });
    };
    for (const [name, { provider, env }] of Object.entries(tables)) {
      if (!NAME.test(name)) refuse(name, 'a name has small letters, digits and -');
      else if (AGENT_NAMES.some((one) => one === name)) refuse(name, 'run-claude has an agent of this name');
      const usesBroker = Object.values(env).some((value) => /\{(broker|placeholder)\}/.test(value));
      if (usesBroker && provider === undefined)
        refuse(name, 'env has {broker} or {placeholder}, and there is no provider');
    }
  })
  .transform((tables) =>
    Object.entries(tables).map(
      ([name, { 'skip-permissions': skipPermissions, title = name, ...more }]): OwnAgent => ({
        ...more,
        name,
        title,
        skipPermissions,
      }),
    ),
  );
