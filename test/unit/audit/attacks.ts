import { readdirSync } from 'node:fs';
import { readLines } from './plant.ts';
import type { Files, Planted, Row } from './rows.ts';
import { CONTENT_ROWS } from './rows-content.ts';
import { GIT_ROWS } from './rows-git.ts';
import { LANGUAGE_ROWS } from './rows-languages.ts';
import { NAMED_ROWS } from './rows-named.ts';
import { NEAR_ROWS } from './rows-near.ts';
import { SHELL_JS_ROWS } from './rows-shell-js.ts';

/** An attempt: files that a session leaves, in a project that may have other files and links. */
export interface Attack {
  readonly name: string;
  readonly files: Files;
  readonly base?: Row['base'];
  readonly links?: Readonly<Record<string, string>>;
}

const scenes = new URL('./scenes/', import.meta.url);
const attempts = new URL('./attempts/', import.meta.url);

const dangerOf = ({ id, danger, base }: Row): Attack => ({
  name: id,
  files: danger,
  ...(base === undefined ? {} : { base }),
});

/** Every attack of the rows, attempts and scenes. */
export const ATTACKS: readonly Attack[] = [
  ...[...GIT_ROWS, ...SHELL_JS_ROWS, ...LANGUAGE_ROWS, ...CONTENT_ROWS, ...NEAR_ROWS, ...NAMED_ROWS].map(dangerOf),
  ...readdirSync(attempts)
    .filter((file) => file !== 'quiet.jsonl')
    .flatMap((file) => readLines<readonly [string, Planted]>(new URL(file, attempts)))
    .map(([path, planted]): Attack => ({ name: '', files: { [path]: planted } })),
  ...readdirSync(scenes)
    .filter((file) => !/^(quiet|shown)\.jsonl$/.test(file))
    .flatMap((file) => readLines<Attack>(new URL(file, scenes))),
];
