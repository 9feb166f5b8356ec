import type { PullRequestName } from './pull-request-name.ts';

/** The token of the environment for this host; undefined: none is for it. A token is never sent to another host. */
export function tokenFor(
  { platform, host }: Pick<PullRequestName, 'platform' | 'host'>,
  env: NodeJS.ProcessEnv,
): string | undefined {
  const first = (...names: readonly string[]): string | undefined =>
    names.map((name) => env[name]).find((value) => value !== undefined && value !== '');
  if (platform === 'gitlab') {
    const own = ['gitlab.com', env['GITLAB_HOST'], env['CI_SERVER_HOST']];
    return own.includes(host) ? first('GITLAB_TOKEN') : undefined;
  }
  if (host === 'github.com' || host.endsWith('.ghe.com')) return first('GH_TOKEN', 'GITHUB_TOKEN');
  const server = env['GITHUB_SERVER_URL'] ?? '';
  if (URL.canParse(server) && new URL(server).host === host) return first('GH_TOKEN', 'GITHUB_TOKEN');
  return host === env['GH_HOST'] ? first('GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN') : undefined;
}
