import type { Policy } from '../types/policy.ts';

/** The few things of the person's own environment that may show inside. */
export interface PersonEnvironment {
  readonly term: string | undefined;
  readonly colorterm: string | undefined;
  /** Name of the time zone: 'Europe/Berlin'. */
  readonly timeZone: string | undefined;
}

const CA_BUNDLE = '/etc/ssl/certs/ca-certificates.crt';
const LOOPBACK = '127.0.0.1,localhost,::1';

/** The agent's environment but for what the gateway adds: an allowlist, then what `--env` names. */
export function planEnvironment(policy: Policy, person: PersonEnvironment): Record<string, string> {
  return {
    HOME: '/home/agent',
    PATH: '/home/agent/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    USER: 'agent',
    SHELL: '/bin/bash',
    TMPDIR: '/tmp',
    TERM: plain(person.term) ?? 'xterm-256color',
    ...(plain(person.colorterm) === undefined ? {} : { COLORTERM: plain(person.colorterm) ?? '' }),
    // The one locale that every image has; another's name only draws warnings.
    LANG: 'C.UTF-8',
    ...(plain(person.timeZone) === undefined ? {} : { TZ: plain(person.timeZone) ?? '' }),
    RUN_CLAUDE: '1',
    IS_SANDBOX: '1',
    NO_PROXY: LOOPBACK,
    no_proxy: LOOPBACK,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // Claude Code is in the image, where its own installer and updater do not look for it.
    DISABLE_INSTALLATION_CHECKS: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_TELEMETRY: '1',
    npm_config_yes: 'true',
    npm_config_update_notifier: 'false',
    // For `npm install --global`: npm's own place is read-only.
    npm_config_prefix: '/home/agent/.local',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    NODE_EXTRA_CA_CERTS: CA_BUNDLE,
    SSL_CERT_FILE: CA_BUNDLE,
    REQUESTS_CA_BUNDLE: CA_BUNDLE,
    CURL_CA_BUNDLE: CA_BUNDLE,
    GIT_SSL_CAINFO: CA_BUNDLE,
    ...policy.env,
  };
}

function plain(text: string | undefined): string | undefined {
  return text !== undefined && /^[A-Za-z0-9][A-Za-z0-9._+/-]{0,63}$/.test(text) ? text : undefined;
}
