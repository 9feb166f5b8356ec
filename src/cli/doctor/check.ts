import { cleanLine } from '../../terminal/clean.ts';
import { wrapWords } from '../../terminal/columns/wrap-words.ts';

/** The title of each check. The names are stable, for scripts. */
const TITLES = {
  platform: 'System',
  home: 'Home directory',
  'state-directory': 'Session data',
  'cache-directory': 'Project copies',
  tmp: 'Temporary files',
  disk: 'Space, sessions',
  'cache-disk': 'Space, copies',
  git: 'Git',
  engine: 'Container engine',
  'engine-kind': 'Kind of engine',
  layers: 'Protection',
  seccomp: 'System calls',
  limits: 'Resource limits',
  options: 'Options',
  kernel: 'Kernel',
  'file-sharing': 'File sharing',
  strategy: 'Copy strategy',
  image: 'Image',
  'way-out': 'Way out',
  credential: 'Credential',
  configuration: 'Configuration',
  mcp: 'MCP servers',
  passthrough: 'Outside the copy',
  plan: 'This session',
} as const;

/** The result of one check of `doctor`. */
export interface Check {
  readonly name: keyof typeof TITLES;
  readonly result: 'ok' | 'warning' | 'fault';
  /** The state of what was checked. */
  readonly text: string;
  /** What to do when the result is not ok. */
  readonly wayOut?: string;
}

/** A check that passed. */
export function ok(name: Check['name'], text: string): Check {
  return { name, result: 'ok', text };
}

/** A check whose result makes sessions slower or less convenient. */
export function warning(name: Check['name'], text: string, wayOut: string): Check {
  return { name, result: 'warning', text, wayOut };
}

/** A check whose result prevents sessions. */
export function fault(name: Check['name'], text: string, wayOut: string): Check {
  return { name, result: 'fault', text, wayOut };
}

const RESULT_WIDTH = 9;
const TITLE_WIDTH = 18;

/**
 * Lines for each check with result, title and state; below them what to do. The last line is the verdict. Lines end at
 * `columns`; those that continue a text begin below it. The texts are cleaned.
 */
export function checkLines(checks: readonly Check[], columns: number = Number.POSITIVE_INFINITY): string[] {
  const beside = (head: string, text: string): string[] =>
    wrapWords(cleanLine(text), columns - head.length).map(
      (line, at) => (at === 0 ? head : ' '.repeat(head.length)) + line,
    );
  return [
    ...checks.flatMap(({ name, result, text, wayOut }) => [
      ...beside(`${result.padEnd(RESULT_WIDTH)}${TITLES[name].padEnd(TITLE_WIDTH)}`, text),
      ...(wayOut === undefined ? [] : beside(`${' '.repeat(RESULT_WIDTH + TITLE_WIDTH)}→ `, wayOut)),
    ]),
    '',
    ...wrapWords(verdict(checks), columns),
  ];
}

function verdict(checks: readonly Check[]): string {
  const count = (result: Check['result'], word: string): string => {
    const number = checks.filter((check) => check.result === result).length;
    return number === 0 ? '' : `${number} ${word}${number === 1 ? '' : 's'}`;
  };
  const [faults, warnings] = [count('fault', 'fault'), count('warning', 'warning')];
  if (faults !== '')
    return `Not ready: ${[faults, warnings].filter(Boolean).join(', ')}. No session starts before each fault is fixed.`;
  return warnings === '' ? 'Ready: sessions can run here.' : `Ready, with ${warnings}: sessions can run here.`;
}
