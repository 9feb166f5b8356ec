import { isPrintOnly } from '../../agents/agents.ts';
import type { FlagValue } from '../../core/config/merge-policy.ts';
import type { Program } from '../../core/types/plan.ts';
import { STRATEGY_NAMES } from '../../core/types/strategy.ts';
import * as refused from './grammar-errors.ts';
import { RUN_OPTIONS } from './options.ts';
import type { ParsedOption } from './take-option.ts';

/** Values of `--copy-workspace` besides `shallow`. */
const STRATEGY_WORDS: readonly string[] = ['auto', ...STRATEGY_NAMES];

/** The settings of mode and strategy. `--bind` means bind mode; other options, and `exec`, imply copy mode. */
export function modeFlags(taken: readonly ParsedOption[], program: Program): FlagValue[] {
  const copy = taken.filter(({ option }) => option.name === 'copy-workspace').at(-1);
  const bind = taken.some(({ option }) => option.name === 'bind');
  const autoApply = taken.some(({ option }) => option.name === 'auto-apply');
  if (bind && copy !== undefined) throw refused.exclusiveOptions('--bind', '--copy-workspace');
  if (bind && autoApply) throw refused.autoApplyInBindMode();
  const flags: FlagValue[] = [];
  const how = copy?.value;
  if (how === 'shallow') flags.push({ flag: '--copy-workspace=shallow', setting: 'shallow', value: true });
  else if (how !== undefined && STRATEGY_WORDS.includes(how)) {
    flags.push({ flag: `--copy-workspace=${how}`, setting: 'strategy', value: how });
  } else if (how !== undefined) {
    throw refused.strategyUnknown(how, [...STRATEGY_WORDS, 'shallow']);
  }
  const implied =
    copy !== undefined
      ? '--copy-workspace'
      : autoApply
        ? '--auto-apply'
        : program.kind === 'exec'
          ? 'exec'
          : program.kind === 'kept'
            ? 'up'
            : isPrintOnly(program)
              ? '--print'
              : undefined;
  if (bind) flags.push({ flag: '--bind', setting: 'mode', value: 'bind' });
  else if (implied !== undefined) flags.push({ flag: implied, setting: 'mode', value: 'copy' });
  return flags;
}

/** The settings that the other options name, in the order of the table of options. */
export function settingFlags(taken: readonly ParsedOption[]): FlagValue[] {
  const flags: FlagValue[] = [];
  for (const option of RUN_OPTIONS) {
    const values = taken.filter((one) => one.option.name === option.name).map((one) => one.value);
    if (values.length === 0 || option.setting === undefined || option.setting === '') continue;
    const texts = values.filter((value) => value !== undefined);
    const flag = `--${option.name}`;
    if (texts.length < values.length) flags.push({ flag, setting: option.setting, value: option.sets ?? true });
    else flags.push({ flag, setting: option.setting, value: option.many ? texts : (texts.at(-1) ?? '') });
  }
  return flags;
}
