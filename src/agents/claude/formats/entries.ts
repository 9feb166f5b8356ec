import { ownValue } from '../../../core/text/own-value.ts';

/** The rule for one name at the top of Claude's configuration directory. */
export interface ConfigEntryRule {
  /** filtered: only listed parts of the content are staged. tree: copied whole. project: the part of this project. */
  readonly stage: 'filtered' | 'tree' | 'file' | 'project' | 'never';
  /** filtered: comes back through a filter of its own into the project's instance. */
  readonly back: 'filtered' | 'never';
  /** own: Claude itself writes here in any session. finding: a change is reported. */
  readonly change: 'own' | 'finding';
}

const rule = (
  stage: ConfigEntryRule['stage'],
  back: ConfigEntryRule['back'],
  change: ConfigEntryRule['change'],
): ConfigEntryRule => ({ stage, back, change });

/** Names under ~/.claude that are staged, come back, or are changed by Claude itself (Claude Code 2.1.329). */
const RULES: Readonly<Record<string, ConfigEntryRule>> = {
  'settings.json': rule('filtered', 'never', 'finding'),
  'CLAUDE.md': rule('file', 'never', 'finding'),
  'keybindings.json': rule('file', 'never', 'finding'),
  commands: rule('tree', 'never', 'finding'),
  skills: rule('tree', 'never', 'finding'),
  agents: rule('tree', 'never', 'finding'),
  rules: rule('tree', 'never', 'finding'),
  'output-styles': rule('tree', 'never', 'finding'),
  plugins: rule('filtered', 'never', 'finding'),
  projects: rule('project', 'filtered', 'own'),
  'history.jsonl': rule('project', 'filtered', 'own'),
  todos: rule('project', 'filtered', 'own'),
  tasks: rule('project', 'filtered', 'own'),
  plans: rule('project', 'filtered', 'own'),
};

/** Written by Claude in any session. They act on the host or reveal too much: neither staged nor brought back. */
const OWN = new Set(
  `backups cache debug telemetry statsig logs traces startup-perf shell-snapshots session-env sessions file-history
   paste-cache image-cache stats-cache.json active-time.json .last-cleanup .last-update-result.json .update.lock
   mcp-discovery-cache mcp-needs-auth-cache.json gh-pr-status-cache.json usage-data .cc-writes child-logs scratch
   .storage-write.lock .oauth_refresh.lock .deep-link-register-failed`.split(/\s+/),
);

/** Executed, obeyed or trusted on the host: neither staged nor brought back, and a session that writes one is reported. */
const KNOWN_NEVER = new Set(
  `settings.local.json cowork_settings.json hooks workflows routines cowork_plugins dev-mods launch.json jobs daemon
   daemon.json daemon.lock daemon.log daemon.scheduled.status.json daemon-auth-cooldown daemon-auth-status.json
   scheduled_tasks.json scheduled_tasks.lock bridge-spawn chrome local systemd seed-admin storage-v2 mcp-skill-archives
   loop.md agent-memory memory themes teams file-transfers uploads downloads shares feedback feedback-bundles
   .credentials.json .device-keys.json .session_ingress_token hfi-auth.json antproto.json .config.json
   remote-settings.json remote-settings-consent.json remote-settings-helper-consent policy-limits.json state
   local-settings project-settings ide ccr remote remote-control server-sessions.json server.lock computer-use.lock
   dump-prompts api-dumps access-audit`.split(/\s+/),
);

/** The rule for a name at the top of ~/.claude. An unknown name is neither staged nor brought back. */
export function ruleOf(name: string): ConfigEntryRule {
  const known = ownValue(RULES, name);
  return known ?? rule('never', 'never', OWN.has(name) ? 'own' : 'finding');
}

/** False for names of a later version of Claude Code, or of the user's: they stay out, with one note. */
export function isKnownName(name: string): boolean {
  return Object.hasOwn(RULES, name) || OWN.has(name) || KNOWN_NEVER.has(name) || /\.signature(-iat)?\.json$/.test(name);
}

/** The names whose trees or files are copied into the home. */
export function stagedNames(kind: 'tree' | 'file'): string[] {
  return Object.keys(RULES).filter((name) => RULES[name]?.stage === kind);
}
