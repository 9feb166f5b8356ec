import { RunClaudeError } from '../../core/errors.ts';

/** What docker-modem and run-claude's own requests put on an error. */
interface EngineFailure {
  readonly code?: string;
  readonly statusCode?: number;
  /** `cause`: Podman's. */
  readonly json?: { readonly message?: string; readonly cause?: string };
  readonly message?: string;
}

/** The engine answered 404: no such object. */
export function isNotFound(error: unknown): boolean {
  return (error as EngineFailure).statusCode === 404;
}

/** The engine answered 304 or 409 (Podman: 500 and the cause): the object has that state already, or will have it. */
export function hasStateAlready(error: unknown): boolean {
  const { statusCode: status, json } = error as EngineFailure;
  return status === 304 || status === 409 || json?.cause === 'container state improper';
}

/** An engine may quote the request (a whole profile) in its error. */
const LONGEST = 1000;

const LOST = [
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ESSH',
  'ABORT_ERR',
  'ERR_STREAM_PREMATURE_CLOSE',
];

/**
 * The error that the user reads for the failure of a request. RunClaudeErrors pass unchanged.
 *
 * @param doing the attempt: 'create the container', 'build the image'.
 */
export function engineFailure(error: unknown, doing: string): RunClaudeError {
  if (error instanceof RunClaudeError) return error;
  const { code, statusCode, json, message } = error as EngineFailure;
  const reason = (json?.message ?? message ?? String(error)).trim().slice(0, LONGEST);
  if (/no space left on device|disk quota exceeded/i.test(reason)) return diskFull(doing, error);
  if (statusCode === undefined && LOST.includes(code ?? '')) {
    return new RunClaudeError('ENGINE_LOST', `the container engine stopped answering (could not ${doing})`, {
      cause: error,
      hint: 'See that it runs (run-claude doctor), then go on: run-claude sessions shows what is pending.',
    });
  }
  if (/no such image/i.test(reason) || json?.cause === 'image not known') {
    return new RunClaudeError('IMAGE_MISSING', 'the image is not on this engine', {
      cause: error,
      hint: 'run-claude build makes it.',
    });
  }
  const hint = COPIES_NOTHING.test(reason) ? { hint: NEWER_DOCKER } : {};
  return new RunClaudeError('ENGINE_REFUSED', `the container engine could not ${doing}: ${reason}`, {
    cause: error,
    ...hint,
  });
}

/** Some releases of Docker set modes through a /proc that is not there, where the kernel has no fchmodat2. */
const COPIES_NOTHING = /^chmod .*: via \/proc\/self\/fd\//;
const NEWER_DOCKER =
  'This release of Docker copies no file into a container on a kernel before Linux 6.6: update Docker, or the kernel.';

/** The engine's or this machine's disk is full. */
export function diskFull(doing: string, cause: unknown): RunClaudeError {
  return new RunClaudeError('DISK_FULL', `no space left on the container engine's disk (could not ${doing})`, {
    cause,
    hint: 'Free some space there (run-claude gc, docker system df), then try again.',
  });
}

/** Runs one request. Every failure is thrown as a RunClaudeError. */
export async function callEngine<T>(doing: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw engineFailure(error, doing);
  }
}
