import type { Policy } from '../../core/types/policy.ts';
import { ANY_SCENES } from './any-project.ts';
import { JAVASCRIPT_SCENES } from './javascript.ts';
import { OPENER_SCENES } from './openers.ts';
import { PYTHON_SCENES } from './python.ts';
import type { Scene } from './scene.ts';
import { TOOL_SCENES } from './tools.ts';

/** Every scene, in the order in which they run: what a machine does by itself comes first. */
export const SCENES: readonly Scene[] = [
  ...ANY_SCENES,
  ...OPENER_SCENES,
  ...PYTHON_SCENES,
  ...JAVASCRIPT_SCENES,
  ...TOOL_SCENES,
];

/** The scenes of a session: the user's own first, so that no other one takes their time. They replace those of their names. */
export function scenesOf({ scenes: own = [] }: Pick<Policy, 'scenes'>): readonly Scene[] {
  const names = new Set(own.map(({ name }) => name));
  return [
    ...own.map(({ timeoutMs, ...scene }): Scene => ({ ...scene, limitMs: timeoutMs })),
    ...SCENES.filter(({ name }) => !names.has(name)),
  ];
}

/** The arguments of images/observer for these scenes. */
export function observerWords(all: readonly Scene[], budgetMs: number): readonly string[] {
  return [
    String(budgetMs),
    ...all.flatMap(({ name, command = name, files, tools, limitMs }) => [
      name,
      String(limitMs),
      files.join(':'),
      tools.join(':'),
      command,
    ]),
  ];
}
