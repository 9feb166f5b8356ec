import { z } from 'zod';

// The one definition of a report: its type, and the JSON Schema in docs/reference/report.schema.json (a test compares).
// Within version 1 fields are only added; readers must pass over what they do not know.

const severity = z.enum(['blocked', 'suspect', 'note']);
const path = z.string().describe("'/' between components; a byte that is not UTF-8 stands as U+DC80 to U+DCFF");

const finding = z.strictObject({
  rule: z.string().describe('docs/audit-rules.md lists every one; others are of the configuration'),
  severity,
  path,
  title: z.string(),
  why: z.string(),
  detail: z.string().optional(),
  line: z.int().min(1).optional().describe('in the new content'),
});

const change = z.strictObject({
  path,
  kind: z.enum(['created', 'modified', 'deleted', 'mode', 'type']),
  state: z
    .enum(['clean', 'suspect', 'blocked', 'withheld', 'git'])
    .describe('git: inside a .git, audited and never applied'),
  renamedFrom: path.optional(),
  similarity: z.int().min(0).max(100).optional().describe('with renamedFrom: in percent; 100 for the same content'),
});

const rule = z.strictObject({
  id: z.string(),
  title: z.string(),
  trigger: z.string().describe('what the user does that runs it'),
  why: z.string(),
  source: z.string(),
});

const session = z.strictObject({
  id: z.string(),
  mode: z.enum(['copy', 'bind']),
  strategy: z.string(),
  started: z.iso.datetime(),
  agentStatus: z.int().optional().describe("the agent's own exit status"),
  stoppedBecause: z.string().optional().describe('why run-claude stopped the agent'),
  failure: z
    .strictObject({ code: z.string(), message: z.string(), hint: z.string().optional() })
    .optional()
    .describe('why the start failed: the agent never ran'),
  decided: z.boolean(),
  discarded: z.boolean(),
  usage: z
    .strictObject({
      requests: z.number(),
      inputTokens: z.number(),
      outputTokens: z.number(),
      costUsd: z.number(),
    })
    .optional(),
});

const outcome = z.strictObject({
  path,
  verdict: z.enum(['applied', 'same', 'conflict', 'blocked', 'suspect', 'withheld', 'skipped', 'failed']),
  why: z.string().optional(),
  thing: z
    .string()
    .optional()
    .describe('the thing in several files that it is about: all of its files have one outcome'),
  ways: z
    .array(z.enum(['keep', 'theirs', 'markers', 'file']))
    .optional()
    .describe('of a conflict: the values of --conflict that decide it'),
});

const count = z.int().min(0);

const files = z.strictObject({
  total: count,
  applied: count.describe('in the project as the session left them'),
  left: count.describe('can still be applied'),
  inPart: count.describe('of those left, files of which some hunks were applied'),
  blocked: count.describe('never applied'),
});

const network = z.strictObject({
  host: z.string(),
  port: count,
  passed: count,
  refused: count,
  failed: count,
  bytesOut: count,
  bytesIn: count,
  why: z.string().optional().describe('of the last refusal'),
});

const test = z.strictObject({
  name: z.string(),
  command: z.string(),
  verdict: z
    .enum(['passed', 'failed', 'failed-before', 'timed-out', 'not-run'])
    .describe(
      "failed: it passes without the session's changes, unless why says otherwise; failed-before: it fails there too",
    ),
  ms: count.describe("with the session's changes"),
  status: z.int().optional().describe('of its command; absent where run-claude stopped it'),
  why: z.string().optional(),
  lines: z.array(z.string()).describe('the last ones that it printed, unless it passed'),
  changed: z.array(z.string()).describe('files that it runs and that the session changed'),
});

/** What `--report x.json` writes. */
export const reportSchema = z
  .strictObject({
    version: z.literal(1),
    tool: z.strictObject({ name: z.literal('run-claude'), version: z.string() }),
    kind: z.enum(['session', 'audit']),
    project: z.string().describe('real path on the host'),
    exitStatus: z.int(),
    session: session.optional().describe('with kind session'),
    base: z.string().optional().describe('with kind audit: the commit that was compared with'),
    counts: z.strictObject({
      created: count,
      modified: count,
      deleted: count,
      mode: count,
      type: count,
      renamed: count.optional().describe('renames; each is one of created and one of deleted too'),
    }),
    severities: z.strictObject({ blocked: count, suspect: count, note: count }),
    massDeletion: z.strictObject({ deleted: count, of: count }).optional(),
    changes: z.array(change),
    findings: z.array(finding).describe('the worst first, then by path'),
    rules: z.array(rule).describe('built-in rules that the findings name'),
    problems: z.array(z.strictObject({ path, why: z.string() })),
    withheld: z.array(z.strictObject({ directory: path, entries: count, bytes: count })),
    network: z.array(network).optional().describe('what the session asked of its gateway, by host'),
    files: files.optional().describe('with kind session: files outside .git, not ignored; a rename is one file'),
    tests: z.array(test).optional().describe('with kind session: the tests of --test and [[test]]'),
    outcome: z.array(outcome).optional().describe('what became of each change; absent where nothing was decided'),
  })
  .meta({
    title: 'run-claude report',
    description: 'The outcome of a session or an audit, version 1. Fields may be added; none changes its meaning.',
  });

export type Report = z.infer<typeof reportSchema>;
export type ReportedFinding = Report['findings'][number];

/** The published JSON Schema of {@link reportSchema}; open for fields that later versions add. */
export function reportJsonSchema(): string {
  const schema = z.toJSONSchema(reportSchema, {
    override: ({ jsonSchema }) => {
      delete jsonSchema.additionalProperties;
    },
  });
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}
