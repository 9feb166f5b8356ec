import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { MARKER, postVerdict } from '../../../../../src/cli/audit/platforms/post-verdict.ts';
import { namePullRequest } from '../../../../../src/cli/audit/platforms/pull-request-name.ts';
import type { RelPath } from '../../../../../src/core/text/path.ts';
import { buildReview } from '../../../../../src/review/choices/build-review.ts';
import { auditReport } from '../../../../../src/session/end/report/write-report.ts';
import { PlatformStandIn, type SeenRequest } from '../../../../support/review/platform-stand-in.ts';

const HEAD = 'a'.repeat(40);
const report = await auditReport(
  buildReview({
    collected: {
      changes: [{ path: 'Makefile' as RelPath, kind: 'modified' }],
      problems: [],
      withheld: [],
      baseEntries: 9,
    },
    findings: [
      {
        rule: 'build-make',
        severity: 'suspect',
        path: 'Makefile' as RelPath,
        title: 'Suspect',
        why: 'Make runs it.',
        line: 2,
      },
    ],
    allowSuspect: [],
    includeIgnored: true,
  }),
  '/p',
  123,
);

/** A platform with these comments; `refused` answers with 403. */
async function post(
  kind: 'github' | 'gitlab',
  comments: readonly object[],
  {
    refused,
    login = 'me',
    status = 123,
    token = 'secret',
  }: { refused?: RegExp; login?: string; status?: number; token?: string | undefined } = {},
) {
  await using platform = await new PlatformStandIn(
    ({ method, path }) => {
      if (refused?.test(`${method} ${path}`)) return { status: 403, body: {} };
      if (path.endsWith('/user'))
        return login === '' ? { status: 403, body: {} } : { body: { login, username: login } };
      if (method !== 'GET') return { body: {} };
      const page = Number(new URL(path, 'http://x').searchParams.get('page'));
      return { body: comments.slice((page - 1) * 100, page * 100) };
    },
    tmpdir(),
    {},
  ).start();
  const at = kind === 'github' ? 'o/r/pull/7' : 'g/r/-/merge_requests/7';
  const warnings: string[] = [];
  const ended = await postVerdict({
    pullRequest: {
      name: namePullRequest(`http://${platform.host}/${at}`, () => undefined),
      token: token === '' ? undefined : token,
      head: HEAD,
    },
    report,
    verdict: 'the verdict',
    status,
    env: {},
    tell: (event) => void (event.kind === 'message' && warnings.push(event.text)),
  });
  const writes = platform.seen.filter(({ method }) => method !== 'GET');
  return { ended, warnings, writes: writes.map(({ method, path }) => `${method} ${path}`), bodies: writes.map(bodyOf) };
}
const bodyOf = ({ body }: SeenRequest): Record<string, unknown> => JSON.parse(body) as Record<string, unknown>;

it.each([
  [0, 'success', 0],
  [123, 'neutral', 0],
  [121, 'failure', 121],
])('of status %d makes a check that is %s on GitHub', async (status, conclusion, ended) => {
  const posted = await post('github', [], { status });
  expect(posted.writes).toEqual(['POST /api/v3/repos/o/r/check-runs', 'POST /api/v3/repos/o/r/issues/7/comments']);
  expect(posted.bodies[0]).toMatchObject({ conclusion, head_sha: HEAD, status: 'completed' });
  expect(posted.bodies[1]?.['body']).toMatch(/^<!-- run-claude audit -->\n.*`Makefile`.*line 2.*Make runs it/s);
  expect([posted.ended, posted.warnings]).toEqual([ended, []]);
});

it('updates its own comment on GitHub, on a later page too, and none of another author', async () => {
  const others = Array.from({ length: 120 }, (_, at) => ({ id: at, body: 'x', user: { login: 'you' } }));
  const forged = { id: 500, body: `${MARKER}\npass`, user: { login: 'you' } };
  const own = { id: 501, body: `${MARKER}\nold`, user: { login: 'me' } };
  expect((await post('github', [forged, ...others, own])).writes[1]).toBe(
    'PATCH /api/v3/repos/o/r/issues/comments/501',
  );
  expect((await post('github', [forged])).writes[1]).toBe('POST /api/v3/repos/o/r/issues/7/comments');
  const ofJob = { id: 502, body: `${MARKER}\nold`, user: { login: 'github-actions[bot]' } };
  expect((await post('github', [ofJob], { login: '' })).writes[1]).toBe('PATCH /api/v3/repos/o/r/issues/comments/502');
});

it('updates its own note on GitLab, whose job shows the status by itself', async () => {
  const own = { id: 9, body: `${MARKER}\nold`, author: { username: 'me' } };
  const list = '/api/v4/projects/g%2Fr/merge_requests/7/notes';
  const updated = await post('gitlab', [own]);
  expect([updated.writes, updated.ended]).toEqual([[`PUT ${list}/9`], 123]);
  expect((await post('gitlab', [{ ...own, author: { username: 'you' } }])).writes).toEqual([`POST ${list}`]);
});

it('stays red where the token may not write the check, or there is none', async () => {
  const refused = await post('github', [], { refused: /check-runs/ });
  expect([refused.ended, refused.warnings]).toEqual([123, [expect.stringContaining('The check was not written')]]);
  const none = await post('github', [], { token: '' });
  expect([none.ended, none.writes, none.warnings.length]).toEqual([123, [], 2]);
  expect(none.warnings.join()).not.toContain('secret');
});
