import { EXIT } from '../../core/errors.ts';
import { execFile } from '../../core/host/programs/start-program.ts';

const MAX_OUTPUT_BYTES = 16 * 1024 ** 2;

/** What a command of run-claude printed, cleaned by it, and its exit status. */
export interface Printed {
  readonly text: string;
  /** Never 0 where the command did not come to its end. */
  readonly status: number;
}

/** The words behind Node's program that run a command of this run-claude. Node takes options for its own until `--`. */
export const selfWords = (args: readonly string[]): readonly string[] => ['--', process.argv[1] ?? '', ...args];

/** Runs a command of this run-claude in a folder, without a terminal: it asks nothing. Never rejects. */
export function runSelf(args: readonly string[], cwd: string, maxBytes = MAX_OUTPUT_BYTES): Promise<Printed> {
  return new Promise((resolve) => {
    const options = { cwd, maxBuffer: maxBytes };
    const child = execFile(process.execPath, selfWords(args), options, (error, stdout, stderr) => {
      const status = error === null ? EXIT.ok : typeof error.code === 'number' ? error.code : EXIT.failed;
      resolve({ text: `${stdout}${stderr}`.trimEnd(), status });
    });
    child.stdin?.end();
  });
}
