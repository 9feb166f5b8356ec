import { readdirSync } from 'node:fs';

/** The names in a folder; none for a folder that is missing or cannot be listed. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
