import { togetherReason } from '../disk/keep-together.ts';

/** Whether a reason only says that another file of the same change could not be applied. */
export function isTogetherReason(why: string): boolean {
  const [start = '', end = ''] = togetherReason('\0').split('\0');
  return why.startsWith(start) && why.includes(end);
}
