import { z } from 'zod';

const MAX_PACKAGES = 200;
const MAX_FILES = 100;
const MAX_SETUP_CHARACTERS = 4000;

/** The form of `[environment]`. */
export const environmentSchema = z.strictObject({
  packages: z.array(z.string()).max(MAX_PACKAGES).default([]),
  with: z.array(z.string()).default([]),
  /** Also what the project's devcontainer.json asks for. */
  devcontainer: z.boolean().default(false),
  setup: z.string().min(1).max(MAX_SETUP_CHARACTERS).optional(),
  env: z.record(z.string(), z.string()).default({}),
  files: z.array(z.string()).max(MAX_FILES).default([]),
});

export type EnvironmentTable = z.infer<typeof environmentSchema>;
