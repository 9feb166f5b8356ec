import { z } from 'zod';

/*
 * What SARIF 2.1.0 (sections 3.13 to 3.52) requires of the members that we write, and what GitHub's code scanning asks
 * for on top. Written from the texts: the schema that OASIS publishes comes in no package that may be used here. Each
 * object is strict, so a member that is not known here is a fault.
 */

const index = z.int().min(0);
/** 3.11: at least one of text and id; plain text in these. GitHub keeps 1,024 characters of a rule's. */
const message = z.strictObject({ text: z.string().min(1) });
const ruleText = z.strictObject({ text: z.string().min(1).max(1024) });
const level = z.enum(['none', 'note', 'warning', 'error']);

/** 3.49 reportingDescriptor. */
const rule = z.strictObject({
  id: z.string().min(1).max(255),
  shortDescription: ruleText,
  fullDescription: ruleText,
  help: message,
  defaultConfiguration: z.strictObject({ level }),
  properties: z.strictObject({
    tags: z
      .array(z.string().min(1))
      .max(20)
      .refine((tags) => new Set(tags).size === tags.length),
    'security-severity': z.string().refine((text) => Number(text) > 0 && Number(text) <= 10),
    precision: z.enum(['very-high', 'high', 'medium', 'low']),
  }),
});

/** 3.30 region: lines and columns from 1, the end not before the start. */
const region = z
  .strictObject({
    startLine: z.int().min(1),
    startColumn: z.int().min(1),
    endLine: z.int().min(1),
    endColumn: z.int().min(1),
  })
  .refine((at) => at.endLine > at.startLine || (at.endLine === at.startLine && at.endColumn >= at.startColumn));

/** 3.4 artifactLocation: with uriBaseId a relative reference, in which no segment leads up (3.4.4, RFC 3986). */
const artifactLocation = z.strictObject({
  uri: z
    .string()
    .regex(/^(?!\/)(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+$/)
    .refine((uri) => !uri.split('/').includes('..')),
  uriBaseId: z.literal('%SRCROOT%'),
});

/** 3.27 result. */
const result = z.strictObject({
  ruleId: z.string().min(1),
  ruleIndex: index,
  level,
  message,
  locations: z
    .array(z.strictObject({ physicalLocation: z.strictObject({ artifactLocation, region }) }))
    .min(1)
    .max(1000),
  partialFingerprints: z.strictObject({
    primaryLocationLineHash: z.string().regex(/^[0-9a-f]+:\d+$/),
    'runClaude/v1': z.string().regex(/^[0-9a-f]{64}$/),
  }),
});

/** 3.20 invocation. */
const invocation = z.strictObject({
  executionSuccessful: z.boolean(),
  exitCode: z.int(),
  toolExecutionNotifications: z.array(z.strictObject({ level, message })).optional(),
});

/** 3.13 sarifLog with 3.14 run, 3.18 tool and 3.19 toolComponent. GitHub refuses more than 20 runs and 25,000 results. */
export const sarifLog = z.strictObject({
  $schema: z.url(),
  version: z.literal('2.1.0'),
  runs: z
    .array(
      z
        .strictObject({
          tool: z.strictObject({
            driver: z.strictObject({
              name: z.string().min(1),
              semanticVersion: z.string().regex(/^\d+\.\d+\.\d+/),
              rules: z.array(rule).max(25_000),
            }),
          }),
          invocations: z.array(invocation),
          columnKind: z.enum(['utf16CodeUnits', 'unicodeCodePoints']),
          results: z.array(result).max(25_000),
        })
        .refine(({ tool, results }) => results.every((one) => tool.driver.rules[one.ruleIndex]?.id === one.ruleId), {
          message: 'ruleIndex does not lead to ruleId (3.27.6)',
        })
        .refine(({ tool: { driver } }) => new Set(driver.rules.map(({ id }) => id)).size === driver.rules.length, {
          message: 'a rule stands twice (3.19.23)',
        }),
    )
    .min(1)
    .max(20),
});
