import type { Policy } from '../types/policy.ts';
import type { FileSettings } from './config-file.ts';
import type { Value } from './read-value.ts';
import { SETTINGS, type Setting } from './settings.ts';

/** The accepted part of the project's file, and one line for each refused value. */
export interface TightenedSettings {
  readonly values: ReadonlyMap<string, Value>;
  readonly auditSeverities: FileSettings['auditSeverities'];
  readonly auditRules: FileSettings['auditRules'];
  readonly refused: readonly string[];
}

const LEVELS = ['note', 'suspect', 'blocked'] as const;

/**
 * The part of a project's file that tightens the user's policy. The file comes with the repository: a hostile one may ask
 * for less, never for more.
 */
export function tighten(policy: Policy, file: FileSettings, where: string): TightenedSettings {
  const values = new Map<string, Value>();
  const refused: string[] = [];
  for (const setting of SETTINGS) {
    if (!file.values.has(setting.name)) continue;
    const wanted = file.values.get(setting.name);
    const now = policy[setting.key];
    if (tightens(setting, now, wanted)) values.set(setting.name, wanted);
    else if (JSON.stringify(now) !== JSON.stringify(wanted)) {
      const why = setting.tighten === 'never' ? 'cannot be set by a project' : 'would loosen your settings';
      refused.push(`${where}: ${setting.name} = ${JSON.stringify(wanted)} ${why}; ignored`);
    }
  }
  if (file.brokers.length > 0) refused.push(`${where}: [[broker]] cannot be set by a project; ignored`);
  if (file.allowRequests.length > 0) refused.push(`${where}: [[allow]] cannot be set by a project; ignored`);
  if (file.mcpServers.length + file.mcpPrograms.length > 0)
    refused.push(`${where}: [[mcp]] cannot be set by a project; ignored`);
  if (file.tests.length > 0) refused.push(`${where}: [[test]] cannot be set by a project; ignored`);
  if (file.scenes.length > 0) refused.push(`${where}: [[scene]] cannot be set by a project; ignored`);
  if (file.slurm !== undefined) refused.push(`${where}: [slurm] cannot be set by a project; ignored`);
  if (file.kubernetes !== undefined) refused.push(`${where}: [kubernetes] cannot be set by a project; ignored`);
  if (file.agents.length > 0) refused.push(`${where}: [agents] cannot be set by a project; ignored`);
  if (file.engines.length > 0) refused.push(`${where}: [engine] cannot be set by a project; ignored`);
  if (file.projects.size > 0) refused.push(`${where}: [project] cannot be set by a project; ignored`);
  if (file.plugin.passthrough.length + file.plugin.tools.length > 0)
    refused.push(`${where}: [plugin] cannot be set by a project; ignored`);
  const auditSeverities: Record<string, (typeof LEVELS)[number]> = {};
  for (const [rule, level] of Object.entries(file.auditSeverities)) {
    // Where the user has set no severity for the rule, only the highest one certainly loosens nothing.
    const floor = policy.auditSeverities[rule] ?? 'blocked';
    if (LEVELS.indexOf(level) >= LEVELS.indexOf(floor)) auditSeverities[rule] = level;
    else refused.push(`${where}: audit.severities.${rule} = "${level}" could loosen the audit; ignored`);
  }
  return { values, auditRules: file.auditRules, auditSeverities, refused };
}

function tightens(setting: Setting, now: unknown, wanted: Value): boolean {
  switch (setting.tighten) {
    case 'smaller':
      // No limit, and 0 for all processors, are looser than any number.
      return typeof wanted === 'number' && wanted > 0 && (typeof now !== 'number' || now === 0 || wanted < now);
    case 'tighter': {
      const order = setting.form.kind === 'choice' ? setting.form.of : [];
      const from = typeof now === 'string' ? order.indexOf(now) : order.length;
      return typeof wanted === 'string' && order.indexOf(wanted) < from;
    }
    case 'add':
      return Array.isArray(wanted);
    case 'on':
      return wanted === true && now !== true;
    case 'off':
      return wanted === false && now !== false;
    case 'never':
      return false;
  }
}
