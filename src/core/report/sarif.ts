import type { Log, ReportingDescriptor, Result, Run } from 'sarif';
import { encodeBytes } from '../text/path.ts';
import { visible } from '../text/visible.ts';
import { fingerprintOf } from './fingerprint.ts';
import { jsonText } from './json.ts';
import { mergeFindings } from './merge-findings.ts';
import type { Report, ReportedFinding } from './schema.ts';

const LEVEL = { blocked: 'error', suspect: 'warning', note: 'note' } as const;
/** What code-scanning pages sort by (GitHub: over 9.0 critical, 7.0 high, 4.0 medium). */
const SECURITY_SEVERITY = { blocked: '8.5', suspect: '5.5', note: '2.0' } as const;
/** Code scanning refuses a file with more results. It shows the first 5,000 by severity. */
const MAX_RESULTS = 25_000;
/** Of one file, so many findings are compared with each other. */
const MAX_MERGED = 200;
/** Code scanning cuts longer texts of a rule. */
const MAX_TEXT_CHARS = 1024;
const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

/**
 * The findings as SARIF 2.1.0, for code-scanning pages. Locations are relative to the project. Of more than
 * {@link MAX_RESULTS} findings the worst are included, and a notification counts the rest.
 */
export function sarifReport(report: Report): string {
  const all = oneForEachReason(report.findings);
  const shown = all.slice(0, MAX_RESULTS);
  const left = all.length - shown.length;
  const ids = [...new Set(shown.map((finding) => finding.rule))].sort();
  const at = new Map(ids.map((id, index) => [id, index]));
  const run: Run = {
    tool: {
      driver: {
        name: report.tool.name,
        semanticVersion: report.tool.version,
        rules: ids.map((id) => ruleOf(id, report)),
      },
    },
    invocations: [
      {
        executionSuccessful: true,
        exitCode: report.exitStatus,
        ...(left > 0 && {
          toolExecutionNotifications: [
            {
              level: 'warning',
              message: { text: `${left} more findings are left out: the JSON report has all of them.` },
            },
          ],
        }),
      },
    ],
    columnKind: 'utf16CodeUnits',
    results: shown.map((finding) => resultOf(finding, at.get(finding.rule) ?? 0)),
  };
  const log: Log = { $schema: SCHEMA, version: '2.1.0', runs: [run] };
  return jsonText(log);
}

/** Findings of several rules that say the same of one line are one result: a page would show the line several times. */
function oneForEachReason(findings: readonly ReportedFinding[]): readonly ReportedFinding[] {
  const byPath = new Map<string, ReportedFinding[]>();
  for (const finding of findings) {
    const group = byPath.get(finding.path);
    if (group === undefined) byPath.set(finding.path, [finding]);
    else group.push(finding);
  }
  const kept = [...byPath.values()].flatMap((group) =>
    group.length > MAX_MERGED ? group : mergeFindings(group).map(({ finding }) => finding),
  );
  const isKept = new Set(kept);
  return findings.filter((finding) => isKept.has(finding));
}

function ruleOf(id: string, report: Report): ReportingDescriptor {
  const known = report.rules.find((rule) => rule.id === id);
  const found = report.findings.filter((finding) => finding.rule === id);
  const worst = (['blocked', 'suspect', 'note'] as const).find((level) =>
    found.some((finding) => finding.severity === level),
  );
  const severity = worst ?? 'note';
  const why = known?.why || found.find((finding) => finding.why !== '')?.why || 'See the finding.';
  return {
    id,
    shortDescription: { text: (known?.title ?? found[0]?.title ?? id).slice(0, MAX_TEXT_CHARS) },
    fullDescription: { text: why.slice(0, MAX_TEXT_CHARS) },
    help: { text: known === undefined ? why : `${why} Runs when: ${known.trigger}. Source: ${known.source}.` },
    defaultConfiguration: { level: LEVEL[severity] },
    properties: { tags: ['security'], 'security-severity': SECURITY_SEVERITY[severity], precision: 'high' },
  };
}

function resultOf(finding: ReportedFinding, ruleIndex: number): Result {
  const { rule, severity, path, title, why, detail, line } = finding;
  const startLine = line ?? 1;
  const text = [`${title}: ${visible(path)}`, detail, why].filter((part) => part !== undefined && part !== '');
  return {
    ruleId: rule,
    ruleIndex,
    level: LEVEL[severity],
    message: { text: text.join('. ') },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(path), uriBaseId: '%SRCROOT%' },
          region: { startLine, startColumn: 1, endLine: startLine, endColumn: 2 },
        },
      },
    ],
    partialFingerprints: fingerprints(finding),
  };
}

/** The first name is the one by which GitHub tells alerts apart. */
function fingerprints(finding: ReportedFinding): Record<string, string> {
  const hash = fingerprintOf(finding);
  return { primaryLocationLineHash: `${hash.slice(0, 16)}:1`, 'runClaude/v1': hash };
}

/** A path's bytes as a relative reference (RFC 3986): never a scheme, never another directory. */
function uriOf(path: string): string {
  let out = '';
  for (const byte of encodeBytes(path)) {
    const char = String.fromCharCode(byte);
    out += /[A-Za-z0-9._~/-]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return out;
}
