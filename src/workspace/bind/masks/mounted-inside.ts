import { readFileSync } from 'node:fs';

/**
 * Which of these paths are mount points for a process of this machine. Undefined where that cannot be read, as after its
 * end.
 */
export function mountedInside(pid: number, targets: readonly string[]): ReadonlySet<string> | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/mountinfo`, 'utf8');
  } catch {
    return undefined;
  }
  return targetsIn(text, targets);
}

/** As {@link mountedInside}, of the text of a mountinfo file: proc(5) writes some bytes of a path in octal digits. Pure. */
export function targetsIn(mountinfo: string, targets: readonly string[]): ReadonlySet<string> {
  const points = new Set(mountinfo.split('\n').map((line) => line.split(' ')[4]));
  return new Set(targets.filter((target) => points.has(target.replace(/[\n\t \\]/g, octal))));
}

function octal(character: string): string {
  return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
}
