import { z } from 'zod';

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);

const pinnedPackage = z.strictObject({
  file: z.string(),
  name: z.string(),
  version: z.string(),
  integrity: z.string().startsWith('sha512-'),
});

export const publishedSchema = z.strictObject({
  /** Registry and name, without a tag. */
  repository: z.string(),
  /** By architecture: the address of the image that was published, and its digest in the registry. */
  images: z.record(z.string(), z.strictObject({ address: z.string(), digest })),
});

export const pinsSchema = z.strictObject({
  debian: z.strictObject({
    release: z.string(),
    reference: z.string(),
    /** By architecture. An architecture without one is fetched by the reference's tag. */
    digests: z.record(z.string(), digest).optional(),
    mirror: z.string(),
    security: z.string(),
  }),
  claudeVersion: z.string(),
  packages: z.record(z.string(), z.array(pinnedPackage)),
});

/** images/pins.json: every version that the image is made of. */
export type Pins = z.infer<typeof pinsSchema>;

/** An npm package by version and integrity hash, and its file's name in the build context. */
export type PinnedPackage = z.infer<typeof pinnedPackage>;

/** Where images of this version of run-claude can be fetched. */
export type Published = z.infer<typeof publishedSchema>;
