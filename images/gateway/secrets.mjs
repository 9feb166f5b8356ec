// The credential, in memory. Renewed on the host only: we ask, once for all requests that wait.

/** @typedef {import('../../src/types/credential.ts').Secret} Secret */

/** No credential, or one that is no longer good: the message says how to log in. */
export class Unauthorised extends Error {}

/** How long the host may take: a person's password prompt, or another session's refresh that was killed. */
const REFRESH_MS = 90_000;
/** A provider that refuses the new credential too will not like the next one better, and the agent can provoke a 401 at
 * will (a request without the header that its login needs): the host is not asked again for a while. */
const REFRESH_PAUSE_MS = 30_000;

/**
 * @param {Secret | undefined} first
 * @param {() => void} ask tells the host that a new one is needed
 */
export function createSecrets(first, ask) {
  let secret = first;
  let askedAt = Number.NEGATIVE_INFINITY;
  /** Why the last renewal failed. @type {Error | undefined} */
  let refusal;
  /** @type {{ promise: Promise<Secret>, done: (secret: Secret) => void, failed: (error: Error) => void } | undefined} */
  let waiting;

  function refresh() {
    if (waiting !== undefined) return waiting.promise;
    /** @type {(secret: Secret) => void} */
    let done = () => undefined;
    /** @type {(error: Error) => void} */
    let failed = () => undefined;
    /** @type {Promise<Secret>} */
    const promise = new Promise((resolve, reject) => {
      done = resolve;
      failed = reject;
    });
    waiting = { promise, done, failed };
    const timer = setTimeout(() => failed(new Unauthorised('the host gave no new credential in time')), REFRESH_MS);
    const over = () => {
      clearTimeout(timer);
      waiting = undefined;
    };
    promise.then(over, (error) => {
      refusal = error;
      over();
    });
    askedAt = performance.now();
    ask();
    return promise;
  }

  return {
    current: () => Promise.resolve(secret),
    /** The secret to try again with after `used` was refused; undefined: the refusal stands.
     * @param {Secret} used @returns {Promise<Secret | undefined>} */
    async after401(used) {
      if (secret !== undefined && secret.value !== used.value) return secret;
      if (waiting === undefined && performance.now() - askedAt < REFRESH_PAUSE_MS) {
        if (refusal !== undefined) throw refusal;
        return undefined;
      }
      return refresh();
    },
    /** @param {Secret} next */
    take(next) {
      secret = next;
      refusal = undefined;
      waiting?.done(next);
    },
    /** @param {string} message */
    refuse(message) {
      waiting?.failed(new Unauthorised(message));
    },
  };
}

/** @typedef {ReturnType<typeof createSecrets>} Secrets */
