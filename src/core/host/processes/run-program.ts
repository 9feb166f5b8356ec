import { homedir } from 'node:os';
import { execFile } from '../programs/start-program.ts';

/** The result of a program of the host. Its output may be a secret: it is never printed or stored. */
export interface ProgramResult {
  readonly status: number;
  readonly stdout: string;
}

/** Runs a program of the host; the seam for `security` and for an apiKeyHelper. Never rejects. */
export type RunProgram = (argv: readonly string[], options?: RunProgramOptions) => Promise<ProgramResult>;

export interface RunProgramOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs?: number;
}

/** The real {@link RunProgram}: no shell, output capped at 1 MiB, stderr dropped; status 127 when it cannot start. */
export const runProgram: RunProgram = (argv, options = {}) =>
  new Promise((resolve) => {
    const [file = '', ...args] = argv;
    const child = execFile(
      file,
      args,
      {
        // Not in the project: a program may read its configuration from where it starts.
        cwd: homedir(),
        timeout: options.timeoutMs ?? 30_000,
        maxBuffer: 1 << 20,
        killSignal: 'SIGKILL',
        ...(options.env === undefined ? {} : { env: { ...options.env } }),
      },
      (error, stdout) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 127;
        resolve({ status: code, stdout });
      },
    );
    // A program that never reads its stdin closes the pipe: its exit status is enough.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.stdin ?? '');
  });
