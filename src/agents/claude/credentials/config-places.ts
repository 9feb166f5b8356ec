// Apart from the credentials: every command reads these settings, and few need a credential.

/** Claude's configuration directory on this host. */
export function claudeConfigDir(env: NodeJS.ProcessEnv, home: string): string {
  const named = env['CLAUDE_CONFIG_DIR'];
  return named === undefined || named === '' ? `${home}/.claude` : named;
}

/** The path of the settings that an organisation enforces on this host. */
export function managedSettingsPath(platform: string): string {
  return platform === 'darwin'
    ? '/Library/Application Support/ClaudeCode/managed-settings.json'
    : '/etc/claude-code/managed-settings.json';
}
