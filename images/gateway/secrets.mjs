// The credential, in memory. It is renewed on the host only, once for all requests that wait.

/** @typedef {import('../../src/core/types/agent/credential.ts').Secret} Secret */

/** There is no valid credential: the message explains how to log in. */
export class Unauthorised extends Error {}

/** Time limit of the host: the user may be prompted for a password, or another session's refresh was killed. */
const REFRESH_MS = 90_000;
/** A provider that refuses the new credential will refuse the next one too, and the agent can provoke a 401 at will (a
 * request without a header that its login needs). So the host is not asked again for a while. */
const REFRESH_PAUSE_MS = 30_000;

/**
 * @param {Secret | undefined} first
 * @param {() => void} ask requests a new one from the host
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
