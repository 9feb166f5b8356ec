import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The nearest directory, from the path itself upwards, that is on another device than its parent. */
export async function mountPointOf(path: string): Promise<string> {
  let at = path;
  for (;;) {
    const above = dirname(at);
    if (above === at) return at;
    const [here, parent] = await Promise.all([deviceOf(at), deviceOf(above)]);
    if (here !== undefined && parent !== undefined && here !== parent) return at;
    at = above;
  }
}

async function deviceOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.dev;
}
