import type { Plan } from '../../core/types/plan.ts';
import { copyMode } from './copy.ts';
import type { SessionMode } from './mode.ts';

const MODES: Readonly<Record<Plan['mode'], () => Promise<SessionMode>>> = {
  copy: async () => copyMode,
  // Seldom used: not part of what every start loads.
  bind: async () => (await import('./bind.ts')).bindMode,
};

/** The mode of a plan. */
export function modeOf({ mode }: Pick<Plan, 'mode'>): Promise<SessionMode> {
  return MODES[mode]();
}
