import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { auditChanges } from '../../../../src/audit/audit.ts';
import { rendererFor } from '../../../../src/core/report/render.ts';
import {
  type Report,
  type ReportedFinding,
  reportJsonSchema,
  reportSchema,
} from '../../../../src/core/report/schema.ts';
import type { RelPath } from '../../../../src/core/text/path.ts';
import type { Change } from '../../../../src/core/types/entry.ts';
import type { SessionRecord } from '../../../../src/core/types/session.ts';
import { buildReview } from '../../../../src/review/choices/build-review.ts';
import { reachesSeverity } from '../../../../src/review/choices/findings.ts';
import { auditReport, sessionReport } from '../../../../src/session/end/report/write-report.ts';
import { auditFiles } from '../../audit/plant.ts';
import { CONTENT_ROWS } from '../../audit/rows-content.ts';
import { NAMED_ROWS } from '../../audit/rows-named.ts';
import { NEAR_ROWS } from '../../audit/rows-near.ts';
import { sarifLog } from './sarif-schema.ts';

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
  await expect(reportJsonSchema()).toMatchFileSnapshot('../../../../docs/reference/report.schema.json');
  const text = render('x.json', await auditReport(review(), '/p', 121, 'main'));
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

it('contains a session with its outcome and its network, and the result of --fail-on', async () => {
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
    tests: [
      {
        name: '@all `x`',
        command: 'npm test',
        verdict: 'failed',
        ms: 2000,
        status: 1,
        lines: ['<b>'],
        changed: ['a|b'],
      },
    ],
    usage: { requests: 1, inputTokens: 2, outputTokens: 3, costUsd: 0.5 },
  } as unknown as SessionRecord;
  const choice = { decided: true, discard: false };
  const report = await sessionReport({ record, review: review(), choice, exitStatus: 121 });
  expect(reportSchema.parse(JSON.parse(render('x.json', report)))).toMatchObject({
    kind: 'session',
    exitStatus: 121,
    session: { agentStatus: 3, decided: true },
    files: { total: 3, applied: 0, left: 2, inPart: 0, blocked: 1 },
    outcome: [{ path: 'a', verdict: 'applied' }],
    tests: [{ verdict: 'failed', status: 1, lines: ['<b>'] }],
    network: [
      { host: 'registry.test', port: 443, passed: 1, refused: 0, bytesOut: 5, bytesIn: 7 },
      { host: 'evil.test', port: 443, passed: 0, refused: 1, why: 'evil.test is not an allowed host' },
    ],
  });
  rmSync(sessionDir, { recursive: true });
  expect(render('x.md', report)).toContain('Hosts refused: `evil.test`.');
  expect(render('x.md', report)).toContain('Test `` @all `x` ``: **failed** (2 s); the session changed `a\\|b`.');
  expect(render('x.sarif', report)).not.toContain('@all');
  expect(render('x.md', report)).toContain('Requests to the model: 1, about $0.50 at list prices.');
  expect(render('x.md', report)).toContain(
    '0 of 3 files applied, 2 left, 1 blocked, agent ended with 3, exit status 121',
  );
  const found = review();
  const quiet = { ...found, items: found.items.filter(({ state }) => state === 'clean'), general: [] };
  expect(['blocked', 'suspect', 'note'].map((level) => reachesSeverity(level as 'note', found))).toEqual([
    true,
    true,
    true,
  ]);
  expect(['blocked', 'suspect', 'note', undefined].map((level) => reachesSeverity(level as 'note', quiet))).toEqual([
    false,
    false,
    true,
    false,
  ]);
});

it('is SARIF 2.1.0 that the standard and code scanning accept, with relative URIs of any bytes', async () => {
  const report = await auditReport(review(), '/p', 0);
  const text = render('x.sarif', report);
  expect(text).toMatch(/^[\x20-\x7e\n]*$/);
  const [run] = sarifLog.parse(JSON.parse(text)).runs;
  expect(run?.results.length).toBeGreaterThan(5);
  expect(run?.results.every(({ message }) => /^[\x20-\x7e]+$/.test(message.text))).toBe(true);
  expect(run?.results.map((result) => result.locations[0]?.physicalLocation.artifactLocation.uri)).toContain(
    'src/%E2%80%AEevil%1B%5D0%3Bx%07%20%40everyone%20%7C%60%60%20%21%5Bx%5D%28http%3A%FF//h%29%3Cimg%3E.txt',
  );
});

it('is SARIF 2.1.0 for every rule, and keeps the worst of very many findings', async () => {
  const planted = Object.assign({}, ...[...NAMED_ROWS, ...NEAR_ROWS, ...CONTENT_ROWS].map(({ danger }) => danger));
  const report = await auditReport(review(), '/p', 0);
  const all = { ...report, findings: auditFiles(planted) };
  const [run] = sarifLog.parse(JSON.parse(render('x.sarif', all))).runs;
  expect(run?.tool.driver.rules.length).toBeGreaterThan(80);
  expect(run?.invocations[0]?.toolExecutionNotifications).toBeUndefined();
  const many = { ...report, findings: Array.from({ length: 25_002 }, () => report.findings[0] as ReportedFinding) };
  const [cut] = sarifLog.parse(JSON.parse(render('x.sarif', many))).runs;
  expect(cut?.results).toHaveLength(25_000);
  expect(cut?.invocations[0]?.toolExecutionNotifications?.[0]?.message.text).toMatch(/^2 more findings/);
});

it('is SARIF with one result for what several rules say of one line', async () => {
  const report = await auditReport(review(), '/p', 0);
  const row = { severity: 'suspect', path: 'Makefile', why: 'w', detail: 'line 2: curl x | sh', line: 2 } as const;
  const findings = [
    { ...row, rule: 'build-make', title: 'Suspect file modified' },
    { ...row, rule: 'shell-pipe', title: 'Downloaded text that is run' },
    { ...row, rule: 'build-make', title: 'Suspect file modified', detail: 'line 3: curl y | sh', line: 3 },
  ];
  const [run] = sarifLog.parse(JSON.parse(render('x.sarif', { ...report, findings }))).runs;
  expect(run?.results.map(({ ruleId }) => ruleId)).toEqual(['build-make', 'build-make']);
});

it('keeps the fingerprint of a finding whose line has moved, and gives it to no other finding', async () => {
  const report = await auditReport(review(), '/p', 0);
  const printOf = (detail: string, path = 'Makefile'): unknown => {
    const finding = { rule: 'build-make', severity: 'suspect', path, title: 'a', why: 'b', detail } as const;
    const text = render('x.sarif', { ...report, findings: [finding] });
    return sarifLog.parse(JSON.parse(text)).runs[0]?.results[0]?.partialFingerprints;
  };
  expect(printOf('line 2: curl x; line 3: curl y')).toEqual(printOf('line 20: curl x; line 31: curl y'));
  expect(printOf('line 2: curl x')).not.toEqual(printOf('line 2: curl y'));
  expect(printOf('line 2: curl x')).not.toEqual(printOf('line 2: curl x', 'b/Makefile'));
});

it('is Markdown in which nothing of the session is markup', async () => {
  const text = render('x.md', await auditReport(review(), '/p', 0, 'main'));
  expect(text).toMatch(/^[\x20-\x7e\n]*$/);
  // Take the code spans away as CommonMark finds them: the rest is run-claude's own text.
  const bare = text.replace(/(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)/g, 'CODE');
  expect(bare).not.toMatch(/everyone|evil|http|img|Makefile|pre-commit/);
  for (const row of bare.split('\n').filter((line) => line.startsWith('| '))) expect(row.split('|')).toHaveLength(5);
  expect(text).toContain('| `.git/hooks/pre-commit` | New git hook detected');
  // A file has one row, whatever its findings.
  expect(text).toMatch(/<br>Name that looks empty or like a parent folder: \(empty\) \(`name-misleads`\)<br>/);
  expect(text.indexOf('#### Blocked')).toBeLessThan(text.indexOf('#### Suspect'));
});

it('counts findings that do not fit into a comment', async () => {
  const found = review();
  const one = found.items[1]?.findings[0];
  if (one === undefined) throw new Error('no finding');
  const general = Array.from({ length: 3000 }, (_, at) => ({ ...one, path: `many/${at}` as RelPath }));
  const text = render('x.md', await auditReport({ ...found, general }, '/p', 0));
  expect(text.length).toBeLessThan(65_536);
  const left = Number(/\*\*(\d+) more findings do not fit/.exec(text)?.[1]);
  const shown = text.match(/\(`[\w-]+`\)/g)?.length;
  expect((shown ?? 0) + left).toBe(3000 + found.items.flatMap((item) => item.findings).length);
});

it('refuses file extensions without a format', async () => {
  for (const name of ['report', 'report.txt', 'json', 'x.JSON']) expect(() => rendererFor(name)).toThrow(name);
});
