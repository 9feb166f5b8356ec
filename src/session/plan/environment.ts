import type { Policy } from '../../core/types/policy.ts';
import { terminalType } from '../../terminal/attach/terminal-type.ts';

/** The parts of the user's environment that may appear inside. */
export interface UserEnvironment {
  readonly term: string | undefined;
  readonly colorterm: string | undefined;
  /** 'Europe/Berlin'. */
  readonly timeZone: string | undefined;
}

const CA_BUNDLE = '/etc/ssl/certs/ca-certificates.crt';
const LOOPBACK = '127.0.0.1,localhost,::1';

/** The agent's environment without the gateway's part: an allowlist, then the variables of `--env`. */
export function planEnvironment(policy: Policy, user: UserEnvironment): Record<string, string> {
  return {
    HOME: '/home/agent',
    PATH: '/home/agent/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    USER: 'agent',
    SHELL: '/bin/bash',
    TMPDIR: '/tmp',
    TERM: terminalType(user.term),
    ...(plain(user.colorterm) === undefined ? {} : { COLORTERM: plain(user.colorterm) ?? '' }),
    // The only locale in every image: another name would cause warnings.
    LANG: 'C.UTF-8',
    ...(plain(user.timeZone) === undefined ? {} : { TZ: plain(user.timeZone) ?? '' }),
    RUN_CLAUDE: '1',
    IS_SANDBOX: '1',
    NO_PROXY: LOOPBACK,
    no_proxy: LOOPBACK,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // Claude Code's own installer and updater do not find it in the image.
    DISABLE_INSTALLATION_CHECKS: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_TELEMETRY: '1',
    npm_config_yes: 'true',
    npm_config_update_notifier: 'false',
    // For `npm install --global`: npm's default prefix is read-only.
    npm_config_prefix: '/home/agent/.local',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    NODE_EXTRA_CA_CERTS: CA_BUNDLE,
    SSL_CERT_FILE: CA_BUNDLE,
    REQUESTS_CA_BUNDLE: CA_BUNDLE,
    CURL_CA_BUNDLE: CA_BUNDLE,
    GIT_SSL_CAINFO: CA_BUNDLE,
    ...policy.environment?.env,
    ...policy.env,
  };
}

function plain(text: string | undefined): string | undefined {
  return text !== undefined && /^[A-Za-z0-9][A-Za-z0-9._+/-]{0,63}$/.test(text) ? text : undefined;
}
