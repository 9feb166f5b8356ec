import { createHash } from 'node:crypto';
import path from 'node:path';

/** The lock of all applies and undos to one project, next to the sessions: `<state>/locks/apply-<16 hex>`. */
export function projectLockFile(sessionDir: string, project: string): string {
  const key = createHash('sha256').update(project).digest('hex').slice(0, 16);
  return path.join(path.dirname(path.dirname(sessionDir)), 'locks', `apply-${key}`);
}
