import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { auditChanges } from '../../../src/audit/audit.ts';
import { rendererFor } from '../../../src/report/render.ts';
import { type Report, reportJsonSchema, reportSchema } from '../../../src/report/schema.ts';
import { buildReview } from '../../../src/review/build-review.ts';
import { auditReport, reaches, sessionReport } from '../../../src/session/write-report.ts';
import type { Change } from '../../../src/types/entry.ts';
import type { RelPath } from '../../../src/types/path.ts';
import type { SessionRecord } from '../../../src/types/session.ts';

const HOSTILE = 'src/\u202eevil\u001b]0;x\u0007 @everyone |`` ![x](http:\udcff//h)<img>.txt';

function review() {
  const contents = new Map([
    ['d1', Buffer.from('#!/bin/sh\ntouch x\n')],
    ['d2', Buffer.from('all:\n\techo `x` | sh\n')],
    ['d3', Buffer.from('plain\n')],
  ]);
  const created = (path: string, digest: string): Change => ({
    path: path as RelPath,
    kind: 'created',
    after: { kind: 'file', mode: 0o755, size: contents.get(digest)?.length ?? 0, mtimeNs: '1', digest },
  });
  const changes = [
    { ...created('.git/hooks/pre-commit', 'd1'), inGit: true },
    created('Makefile', 'd2'),
    created(HOSTILE, 'd3'),
    created('bin/tool', 'd1'),
  ];
  const findings = auditChanges({ changes, content: (digest) => contents.get(digest) });
  const collected = { changes, problems: [{ path: 'p|q', why: 'no' }], withheld: [], baseEntries: 10 };
  return buildReview({ collected, findings, allowSuspect: [], includeIgnored: false });
}

const render = (file: string, report: Report): string => rendererFor(file)(report);

it('is published as a JSON Schema that is current, and every report fits it', async () => {
  await expect(reportJsonSchema()).toMatchFileSnapshot('../../../docs/report.schema.json');
  const text = render('x.json', auditReport(review(), '/p', 121, 'main'));
  expect(text).toMatch(/^[\x20-\x7e\n]*$/);
  const report = reportSchema.parse(JSON.parse(text));
  expect(report.severities).toEqual({
    blocked: report.findings.filter((finding) => finding.severity === 'blocked').length,
    suspect: report.findings.filter((finding) => finding.severity === 'suspect').length,
    note: report.findings.filter((finding) => finding.severity === 'note').length,
  });
  expect(report.changes.map(({ path }) => path)).toContain(HOSTILE);
  expect(report.findings[0]).toMatchObject({ rule: 'git-hook', severity: 'blocked', path: '.git/hooks/pre-commit' });
  expect(report.rules.map(({ id }) => id)).toEqual(expect.arrayContaining(['git-hook', 'build-make', 'name-control']));
});

it('carries a session with its outcome and its network, and says what --fail-on asks', () => {
  const sessionDir = mkdtempSync(path.join(tmpdir(), 'rc-report-'));
  const entry = { kind: 'connect', port: 443, method: 'CONNECT', up: 0, down: 0, ms: 1 };
  const lines = [
    { ...entry, host: 'registry.test', verdict: 'passed', up: 5, down: 7 },
    { ...entry, host: 'evil.test', verdict: 'refused', why: 'evil.test is not an allowed host', unlisted: true },
    { ...entry, host: 'flags.test', verdict: 'refused', quiet: true },
  ];
  writeFileSync(path.join(sessionDir, 'network.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const record = {
    id: 'id',
    started: '2026-01-01T00:00:00.000Z',
    agentStatus: 3,
    plan: { mode: 'copy', strategy: 'layers', project: { root: '/p' }, sessionDir },
    outcome: { at: 'now', changes: [{ path: 'a', verdict: 'applied' }] },
    usage: { requests: 1, inputTokens: 2, outputTokens: 3, costUsd: 0.5 },
  } as unknown as SessionRecord;
  const choice = { decided: true, discard: false };
  const report = sessionReport({ record, review: review(), choice, exitStatus: 121 });
  expect(reportSchema.parse(JSON.parse(render('x.json', report)))).toMatchObject({
    kind: 'session',
    exitStatus: 121,
    session: { agentStatus: 3, decided: true },
    outcome: [{ path: 'a', verdict: 'applied' }],
    network: [
      { host: 'registry.test', port: 443, passed: 1, refused: 0, bytesOut: 5, bytesIn: 7 },
      { host: 'evil.test', port: 443, passed: 0, refused: 1, why: 'evil.test is not an allowed host' },
    ],
  });
  rmSync(sessionDir, { recursive: true });
  expect(render('x.md', report)).toContain('Hosts refused: `evil.test`.');
  expect(render('x.md', report)).toContain('Requests to the model: 1, about $0.50 at list prices.');
  expect(render('x.md', report)).toContain('1 of 1 changes applied, agent ended with 3, exit status 121');
  const found = review();
  const quiet = { ...found, items: found.items.filter(({ state }) => state === 'clean'), general: [] };
  expect(['blocked', 'suspect', 'note'].map((level) => reaches(level as 'note', found))).toEqual([true, true, true]);
  expect(['blocked', 'suspect', 'note', undefined].map((level) => reaches(level as 'note', quiet))).toEqual([
    false,
    false,
    true,
    false,
  ]);
});

// The structure that the schema of SARIF 2.1.0 requires (sections 3.13, 3.14, 3.18, 3.19, 3.27, 3.49 of the standard).
it('is SARIF 2.1.0: required members, levels, indices and relative URIs', () => {
  const report = auditReport(review(), '/p', 0);
  const text = render('x.sarif', report);
  expect(text).toMatch(/^[\x20-\x7e\n]*$/);
  const log = JSON.parse(text);
  expect(log.version).toBe('2.1.0');
  expect(log.$schema).toMatch(/^https:\/\/docs\.oasis-open\.org\/.*sarif-schema-2\.1\.0\.json$/);
  const [run] = log.runs;
  const { rules } = run.tool.driver;
  expect(run.tool.driver.name).toBe('run-claude');
  expect(new Set(rules.map((rule: { id: string }) => rule.id)).size).toBe(rules.length);
  for (const rule of rules) {
    expect(rule.shortDescription.text).not.toBe('');
    expect(rule.fullDescription.text).not.toBe('');
    expect(rule.help.text).not.toBe('');
    expect(['error', 'warning', 'note']).toContain(rule.defaultConfiguration.level);
  }
  expect(run.results).toHaveLength(report.findings.length);
  for (const result of run.results) {
    expect(rules[result.ruleIndex].id).toBe(result.ruleId);
    expect(['error', 'warning', 'note']).toContain(result.level);
    expect(result.message.text).toMatch(/^[\x20-\x7e]+$/);
    const [{ physicalLocation: place }] = result.locations;
    expect(place.artifactLocation.uri).toMatch(/^(?!\/)(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+$/);
    expect(place.region.startLine).toBeGreaterThan(0);
    expect(result.partialFingerprints['runClaude/v1']).toMatch(/^[0-9a-f]{64}$/);
  }
  const uris = run.results.map(
    (result: { locations: { physicalLocation: { artifactLocation: { uri: string } } }[] }) =>
      result.locations[0]?.physicalLocation.artifactLocation.uri,
  );
  expect(uris).toContain(
    'src/%E2%80%AEevil%1B%5D0%3Bx%07%20%40everyone%20%7C%60%60%20%21%5Bx%5D%28http%3A%FF//h%29%3Cimg%3E.txt',
  );
});

it('is Markdown in which nothing of the session is markup', () => {
  const text = render('x.md', auditReport(review(), '/p', 0, 'main'));
  expect(text).toMatch(/^[\x20-\x7e\n]*$/);
  // Take the code spans away as CommonMark finds them: what is left is ours alone.
  const bare = text.replace(/(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)/g, 'CODE');
  expect(bare).not.toMatch(/everyone|evil|http|img|Makefile|pre-commit/);
  for (const row of bare.split('\n').filter((line) => line.startsWith('| '))) expect(row.split('|')).toHaveLength(5);
  expect(text).toContain('| `.git/hooks/pre-commit` | New git hook detected');
  expect(text.indexOf('#### Blocked')).toBeLessThan(text.indexOf('#### Suspect'));
});

it('counts what does not fit into a comment', () => {
  const found = review();
  const one = found.items[1]?.findings[0];
  if (one === undefined) throw new Error('no finding');
  const general = Array.from({ length: 3000 }, (_, at) => ({ ...one, path: `many/${at}` as RelPath }));
  const text = render('x.md', auditReport({ ...found, general }, '/p', 0));
  expect(text.length).toBeLessThan(65_536);
  const left = Number(/\*\*(\d+) more findings do not fit/.exec(text)?.[1]);
  const shown = text.split('\n').filter((line) => /^\| `/.test(line)).length;
  expect(shown + left).toBe(3000 + found.items.flatMap((item) => item.findings).length);
});

it('refuses endings that no format has', () => {
  for (const name of ['report', 'report.txt', 'json', 'x.JSON']) expect(() => rendererFor(name)).toThrow(name);
});
