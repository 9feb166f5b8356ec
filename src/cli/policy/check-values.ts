import { profileDir } from '../../agents/claude/instances/profile.ts';
import type { FlagValue, MergedPolicy, NamedSettings } from '../../core/config/merge-policy.ts';
import { readValue, type Value } from '../../core/config/read-value.ts';
import { type Setting, settingNamed, variableOf } from '../../core/config/settings.ts';
import { RunClaudeError } from '../../core/errors.ts';
import { checkBrokers } from '../../network/gateway/rules/brokers.ts';
import {
  parseAddressRange,
  parseHostRule,
  policyRules,
  requirePreset,
} from '../../network/gateway/rules/host-rules.ts';
import { parseLocalService, parseLocalServices, refuseTakenPorts } from '../../network/gateway/rules/local-services.ts';
import { parsePort, parsePorts } from '../../network/preview/port-words.ts';

/** What a policy was merged from, apart from the project's own files: those set none of these values. */
export interface ValueSources {
  readonly config: NamedSettings | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly flags: readonly FlagValue[];
}

/** Settings whose values only a later stage uses, with what reads one of them. `from` names its source in messages. */
const CHECKED: Readonly<Record<string, (value: string, from: string) => unknown>> = {
  'allow-host': parseHostRule,
  'allow-address': parseAddressRange,
  'allow-local': parseLocalService,
  'network-presets': requirePreset,
  port: parsePort,
};

/**
 * Reads the values that only a later stage uses, so that a wrong one is reported before anything has started, with the file
 * and the key, the variable or the option that has it.
 *
 * @throws {RunClaudeError} USAGE, BROKER_FAILED, PROFILE_MISSING
 */
export function checkValues(
  { policy, origins }: Pick<MergedPolicy, 'policy' | 'origins'>,
  sources: ValueSources,
  configDir: string,
): void {
  for (const [name, check] of Object.entries(CHECKED))
    for (const { from, value } of valuesOf(name, sources))
      for (const one of Array.isArray(value) ? value : []) check(one, from);
  named(sources.config?.where, () => {
    policyRules(policy);
    checkBrokers(policy);
  });
  parseLocalServices(policy.allowLocal ?? [], keyAt(origins.get('allowLocal'), 'allow-local'));
  parsePorts(policy.ports ?? [], keyAt(origins.get('ports'), 'port'));
  refuseTakenPorts(policy);
  if (policy.profile !== undefined) named(origins.get('profile'), () => profileDir(configDir, policy.profile ?? ''));
}

function valuesOf(name: string, sources: ValueSources): readonly { readonly from: string; readonly value: Value }[] {
  const setting = settingNamed.get(name);
  if (setting === undefined) return [];
  const { config, environment, flags } = sources;
  const ofFile = config?.settings.values.get(name);
  const variable = variableOf(setting);
  return [
    ...(ofFile === undefined ? [] : [{ from: `${config?.where}: ${name}`, value: ofFile }]),
    ...read(setting, environment[variable], variable),
    ...flags.filter((flag) => flag.setting === name).flatMap(({ flag, value }) => read(setting, value, flag)),
  ];
}

const read = (setting: Setting, raw: FlagValue['value'] | undefined, from: string) =>
  raw === undefined ? [] : [{ from, value: readValue(setting, raw, from) }];

/** A setting with its sources: options and variables have its name already. */
const keyAt = (origin: string | undefined, name: string): string =>
  origin === undefined || /^(--|RUN_CLAUDE_)/.test(origin) ? (origin ?? name) : `${origin}: ${name}`;

/** A fault of `check` with the name of the file that has it. */
function named(where: string | undefined, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof RunClaudeError) || where === undefined) throw error;
    const { code, message, hint, status } = error;
    throw new RunClaudeError(code, `${where}: ${message}`, {
      status,
      cause: error,
      ...(hint === undefined ? {} : { hint }),
    });
  }
}
