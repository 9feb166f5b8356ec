import type { CommandRun } from '../context/context.ts';
import { runTop } from '../top/run-top.ts';

/** `top`: the sessions of this user on the whole terminal. */
export const topCommand: CommandRun = (_line, context) => runTop(context);
