import type { SecretFile } from '../../core/types/secret-file.ts';
import { cleanLine } from '../../terminal/clean.ts';

const STATES: Readonly<Record<SecretFile['state'], string>> = {
  masked: 'masked',
  unmasked: 'readable, by --unmask',
  tracked: 'readable: git tracks it',
  'by-content': 'readable: neither its name nor an ignore rule keeps it private',
};
const NAMED = 3;

/** The files of a project that hold secrets, in a few words for the start screen; none where it has none. */
export function secretWords(files: readonly SecretFile[], unsearched = 0): string[] {
  const of = (state: SecretFile['state'], isInGit?: boolean): readonly SecretFile[] =>
    files.filter((one) => one.state === state && (isInGit === undefined || one.isInGit === isInGit));
  const committed = of('tracked').filter(({ isInGit }) => isInGit !== false);
  const line = (some: readonly SecretFile[], what: (count: string) => string): string[] =>
    some.length === 0 ? [] : [what(count(some.length)).replace('()', () => `(${names(some)})`)];
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

/** What was not searched for secrets; none where everything was. */
export function unsearchedWords(number: number): string[] {
  return number === 0 ? [] : [`${count(number)} not searched: there are too many ignored or new ones`];
}

function count(number: number): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? 'file' : 'files'}`;
}

function names(files: readonly SecretFile[]): string {
  const some = files.slice(0, NAMED).map(({ path }) => cleanLine(path));
  return files.length > NAMED ? `${some.join(', ')}, …` : some.join(', ');
}
