import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Tell } from '../../core/types/event.ts';
import type { NetworkEntry } from '../../core/types/gateway.ts';
import type { SeenDecoy } from '../../core/types/secret/decoy.ts';

const FILE = 'decoys-seen.jsonl';
/** Of one session: the agent can name as many hosts as it likes. */
const MAX_SEEN = 500;

export interface DecoyLog {
  add(entry: NetworkEntry): void;
}

/**
 * Keeps each decoy that was sent, once for each host, next to the network log, which may be cut off. Each is printed
 * at once.
 */
export function openDecoyLog(sessionDir: string, tell: Tell): DecoyLog {
  const known = new Set(readSeenDecoys(sessionDir).map(keyOf));
  return {
    add({ decoys = [], kind, verdict, host, port, at }) {
      for (const { path: file, name } of decoys) {
        const as = kind === 'provider' && verdict === 'passed' ? 'read' : 'sent';
        const seen: SeenDecoy = { as, path: file, ...(name === undefined ? {} : { name }), at, to: `${host}:${port}` };
        const key = keyOf(seen);
        if (known.has(key) || known.size >= MAX_SEEN) continue;
        known.add(key);
        appendFileSync(path.join(sessionDir, FILE), `${JSON.stringify(seen)}\n`, { mode: 0o600 });
        if (as === 'sent') tell({ kind: 'message', level: 'warning', text: `network: blocked ${wordsOf(seen)}` });
      }
    },
  };
}

/** 'a decoy of .env (STRIPE_SECRET_KEY) to example.com:80'. */
function wordsOf({ path: file, name, to }: SeenDecoy): string {
  return `a decoy of ${file}${name === undefined ? '' : ` (${name})`} to ${to}`;
}

/** That a file was read is one fact, whichever of its decoys says so. */
const keyOf = ({ as, path: file, name, to }: SeenDecoy): string =>
  JSON.stringify(as === 'read' ? [as, file] : [as, file, name, to]);

/** What was seen in a session, the oldest first. A line that is not complete is left out. */
export function readSeenDecoys(sessionDir: string): readonly SeenDecoy[] {
  let text: string;
  try {
    text = readFileSync(path.join(sessionDir, FILE), 'utf8');
  } catch {
    // Usually nothing was seen.
    return [];
  }
  return text.split('\n').flatMap((line) => {
    try {
      const seen = JSON.parse(line) as SeenDecoy | null;
      return typeof seen?.path === 'string' ? [seen] : [];
    } catch {
      return [];
    }
  });
}
