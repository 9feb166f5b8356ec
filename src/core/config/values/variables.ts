import { usageError } from '../../errors.ts';

/** Variables that the sandbox sets itself, or that would put the real credential or another loader inside. */
const RESERVED_NAMES = [
  ...['HOME', 'PATH', 'USER', 'SHELL', 'TMPDIR', 'IS_SANDBOX', 'RUN_CLAUDE.*'],
  ...['LD_.*', 'GLIBC_TUNABLES'],
  ...['http_proxy', 'https_proxy', 'no_proxy', 'all_proxy', 'ftp_proxy'],
  ...['ANTHROPIC_BASE_URL', 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_.*'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
];
const RESERVED = new RegExp(`^(${RESERVED_NAMES.join('|')})$`, 'i');

/**
 * The variables that `--env` passes in, with their values. `NAME` takes the value from `environment`.
 *
 * @throws {RunClaudeError} USAGE for an invalid name, a name that the sandbox sets itself, and a name that is not set
 */
export function resolveVariables(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  where: string,
): Record<string, string> {
  const values: Record<string, string> = {};
  for (const word of words) {
    const cut = word.indexOf('=');
    const name = cut === -1 ? word : word.slice(0, cut);
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw usageError(`${where}: '${name}' is not a valid name of a variable`);
    if (RESERVED.test(name)) {
      throw usageError(`${where}: ${name} is set by the sandbox itself`, 'Credentials are taken with --credentials.');
    }
    const value = cut === -1 ? environment[name] : word.slice(cut + 1);
    if (value === undefined) throw usageError(`${where}: ${name} is not set here`, `Write ${name}=VALUE.`);
    values[name] = value;
  }
  return values;
}
