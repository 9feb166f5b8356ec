import type { SecretFile } from '../../core/types/secret/secret-file.ts';
import { cleanLine } from '../../terminal/clean.ts';

const STATES: Readonly<Record<SecretFile['state'], string>> = {
  masked: 'masked',
  unmasked: 'readable, by --unmask',
  tracked: 'readable: git tracks it',
  'by-content': 'readable: neither its name nor an ignore rule keeps it private',
};
const NAMED = 3;

/** The files of a project that hold secrets, in a few words for the start screen; none where it has none. */
export function secretWords(files: readonly SecretFile[], unsearched: readonly string[] = []): string[] {
  const of = (state: SecretFile['state'], isInGit?: boolean): readonly SecretFile[] =>
    files.filter((one) => one.state === state && (isInGit === undefined || one.isInGit === isInGit));
  const committed = of('tracked').filter(({ isInGit }) => isInGit !== false);
  const line = (some: readonly SecretFile[], what: (count: string) => string): string[] =>
    some.length === 0 ? [] : [what(count(some.length)).replace('()', () => `(${names(some.map(({ path }) => path))})`)];
  return [
    ...line(of('masked'), (number) => `${number} masked (): --unmask GLOB shows one to the agent`),
    ...line(of('masked', true), (number) => `${number} masked, but readable in git's objects ()`),
    ...line(of('unmasked'), (number) => `${number} readable, by --unmask ()`),
    ...line(committed, (number) => `${number} readable, since git has them ()`),
    ...line(of('tracked', false), (number) => `${number} readable, with content that is not in git (): use --mask`),
    ...line(of('by-content'), (number) => `${number} readable (): ignore it, or use --mask`),
    ...unsearchedWords(unsearched),
  ];
}

/** Each file with the reason, for `--dry-run` and `status`. */
export function secretLines(files: readonly SecretFile[]): string[] {
  return files.map((one) => `${cleanLine(one.path)} (${cleanLine(one.reason)}): ${stateWords(one)}`);
}

function stateWords({ state, isInGit }: SecretFile): string {
  if (state === 'masked' && isInGit === true) return "masked, but git's objects have the same content";
  return state === 'tracked' && isInGit === false
    ? 'readable: git tracks it, but does not have this content'
    : STATES[state];
}

/** What was not searched for secrets, in a few words; none where everything was. */
export function unsearchedWords(paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  return [`${count(paths.length)} not searched (${names(paths)}): large, or too many; --mask GLOB empties one`];
}

/** As {@link unsearchedWords}, a line for each of the first ones. */
export function unsearchedLines(paths: readonly string[]): string[] {
  const more = paths.length - MAX_LINES;
  return [
    ...paths.slice(0, MAX_LINES).map((one) => `${cleanLine(one)}: not searched`),
    ...(more > 0 ? [`${more.toLocaleString('en-US')} more not searched`] : []),
  ];
}

const MAX_LINES = 50;

function count(number: number): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? 'file' : 'files'}`;
}

function names(paths: readonly string[]): string {
  const some = paths.slice(0, NAMED).map(cleanLine);
  return paths.length > NAMED ? `${some.join(', ')}, …` : some.join(', ');
}
