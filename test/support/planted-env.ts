import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Put together here, so that no file of the repository holds a token. */
const STRIPE = `sk_live_${'k7Qz3mX9pLw2Rt8Yv5Nc4Bh6'}`;

/** Matches the output of the command below where the file has decoys, and not where it has its values. */
export const MASKED_ENV = /STRIPE_SECRET_KEY=sk_live_(?!k7Qz3mX9)[A-Za-z0-9]{24}\b[\s\S]*MASKED/;

/** A shell command that prints the planted file, and MASKED where no file of the folder has its value. */
export const SHOW_ENV = 'cat .env; grep -rq k7Qz3mX9pLw2Rt8Yv5Nc4Bh6 . || echo MASKED';

/** A `.env` with a key in a project, until it is disposed. */
export function plantEnv(project: string): Disposable {
  const file = path.join(project, '.env');
  writeFileSync(file, `PORT=3000\nSTRIPE_SECRET_KEY=${STRIPE}\n`);
  return { [Symbol.dispose]: () => rmSync(file) };
}
