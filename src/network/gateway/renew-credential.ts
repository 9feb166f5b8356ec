import type { CredentialSource, Secret } from '../../core/types/agent/credential.ts';
import type { Tell } from '../../core/types/event.ts';

const RENEW_BEFORE_MS = 5 * 60_000;
/** Where this machine's clock is ahead, every credential has expired already. */
const MIN_RENEW_PAUSE_MS = 30_000;
/** setTimeout counts in 32 bits. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface RenewalOptions {
  /** Keeps each secret for the next start of the gateway. */
  readonly keep: (secret: Secret | undefined) => void;
  /** Sends a renewed secret to the gateway that runs. */
  readonly send: (secret: Secret) => void;
  readonly tell: Tell;
}

/** Renews a credential shortly before it expires. */
export class CredentialRenewal {
  /** The credential; each refresh of it sets the time of the next renewal. */
  readonly source: CredentialSource | undefined;
  readonly #options: RenewalOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(credential: CredentialSource | undefined, options: RenewalOptions) {
    this.#options = options;
    if (credential === undefined) return;
    this.source = {
      ...credential,
      current: () => credential.current(),
      refresh: async () => {
        const secret = await credential.refresh();
        this.take(secret);
        return secret;
      },
    };
  }

  take(secret: Secret | undefined): void {
    this.#options.keep(secret);
    this.stop();
    if (secret?.expiresMs === undefined || this.source === undefined) return;
    const pauseMs = Math.max(MIN_RENEW_PAUSE_MS, secret.expiresMs - Date.now() - RENEW_BEFORE_MS);
    this.#timer = setTimeout(() => void this.#renew(), Math.min(pauseMs, MAX_TIMER_MS));
    this.#timer.unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  async #renew(): Promise<void> {
    try {
      const secret = await this.source?.refresh();
      if (secret !== undefined) this.#options.send(secret);
    } catch (error) {
      // The credential is valid for minutes more. A 401 tries again, and is reported to the user.
      this.#options.tell({
        kind: 'trace',
        text: `credential: ${error instanceof Error ? error.message : String(error)}`,
      });
    }
  }
}
