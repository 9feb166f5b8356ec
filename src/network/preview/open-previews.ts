import { randomBytes } from 'node:crypto';
import { RunClaudeError } from '../../core/errors.ts';
import type { Tell } from '../../core/types/event.ts';
import type { PreviewDeps } from './exchange.ts';
import { originOf, TOKEN_PARAMETER } from './judge-request.ts';
import { listenOnLoopback } from './listen.ts';
import {
  type OpenPort,
  type PortRequest,
  readAskedPorts,
  removeAskedPort,
  removePortFiles,
  writeOpenPorts,
} from './port-files.ts';
import { type AskedPort, parsePort, parsePorts } from './port-words.ts';
import { createPreview } from './serve-port.ts';

const POLL_MS = 300;
const TOKEN_BYTES = 24;
/** Answers that are kept for who asked, of each kind. */
const MAX_ANSWERS = 100;
/** Below these, only root can listen. */
const FIRST_FREE_PORT = 1024;

export interface PreviewOptions extends PreviewDeps {
  readonly sessionId: string;
  readonly sessionDir: string;
  /** Of the session's policy, `PORT[:HOSTPORT]`. */
  readonly ports: readonly string[];
  readonly tell: Tell;
}

/** The pages of one session, served by the process that runs it. */
export interface Previews {
  close(): void;
}

/**
 * Opens the pages of a session, and from then on those that `run-claude ports` asks for.
 *
 * @throws {RunClaudeError} PORT_TAKEN; USAGE for words that are not ports
 */
export async function openPreviews(options: PreviewOptions): Promise<Previews> {
  const { sessionDir, ports } = options;
  const previews = new SessionPreviews(options);
  removePortFiles(sessionDir);
  try {
    for (const asked of parsePorts(ports)) {
      const url = await previews.open(asked);
      // For a later one, the command that asks for it prints the address.
      options.tell({ kind: 'message', level: 'info', text: `Port ${asked.port} of the session: ${url}` });
    }
  } catch (error) {
    previews.close();
    throw error;
  }
  previews.watch();
  return previews;
}

class SessionPreviews implements Previews {
  readonly #options: PreviewOptions;
  readonly #host: string;
  readonly #token = randomBytes(TOKEN_BYTES).toString('base64url');
  /** By the agent's port. */
  readonly #open = new Map<number, OpenPort & { readonly hostPort: number; readonly close: () => void }>();
  /** By request. */
  readonly #failed = new Map<string, OpenPort>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: PreviewOptions) {
    this.#options = options;
    this.#host = `${options.sessionId}.localhost`;
  }

  /** Returns the address to open. */
  async open({ port, hostPort }: AskedPort): Promise<string> {
    const known = this.#open.get(port);
    if (known?.url !== undefined && (hostPort === undefined || hostPort === known.hostPort)) return known.url;
    const usual = port < FIRST_FREE_PORT ? 0 : port;
    let own = 0;
    const address = () => ({
      host: this.#host,
      hostPort: own,
      token: this.#token,
      ports: [...this.#open.values()].map((one) => one.hostPort),
    });
    const make = () => createPreview(port, address, this.#options);
    const opened = await listenOnLoopback(make, hostPort ?? usual, hostPort === undefined ? 'free' : 'none');
    if (this.#isClosed) {
      opened.close();
      return '';
    }
    own = opened.hostPort;
    known?.close();
    const url = `${originOf(this.#host, own)}/?${TOKEN_PARAMETER}=${this.#token}`;
    this.#open.set(port, { port, ...opened, url, asked: known?.asked });
    this.#write();
    return url;
  }

  watch(): void {
    let isBusy = false;
    const poll = async (): Promise<void> => {
      if (isBusy) return;
      isBusy = true;
      try {
        for (const request of readAskedPorts(this.#options.sessionDir)) {
          await this.#openAsked(request);
          removeAskedPort(this.#options.sessionDir, request);
        }
      } catch (error) {
        // Such as a full disk. The request stays, and is tried again.
        this.#options.tell({ kind: 'trace', text: `preview: ${String(error)}` });
      } finally {
        isBusy = false;
      }
    };
    this.#timer = setInterval(() => void poll(), POLL_MS).unref();
  }

  /** A page that cannot be opened is reported to who asked for it. */
  async #openAsked({ id, words }: PortRequest): Promise<void> {
    let port = 0;
    try {
      const asked = parsePort(words);
      port = asked.port;
      parsePorts([...new Set([...this.#open.keys(), port])].map(String));
      await this.open(asked);
      const opened = this.#open.get(port);
      const answered = [...(opened?.asked ?? []).filter((one) => one !== id), id].slice(-MAX_ANSWERS);
      if (opened !== undefined) this.#open.set(port, { ...opened, asked: answered });
      this.#failed.delete(id);
    } catch (error) {
      const { message, hint } = error instanceof RunClaudeError ? error : { message: String(error), hint: undefined };
      this.#failed.set(id, { port, error: message, hint, asked: [id] });
      for (const old of [...this.#failed.keys()].slice(0, -MAX_ANSWERS)) this.#failed.delete(old);
    }
    this.#write();
  }

  #write(): void {
    if (this.#isClosed) return;
    const open = [...this.#open.values()].map(({ close: _close, ...one }) => one);
    writeOpenPorts(this.#options.sessionDir, [...open, ...this.#failed.values()]);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const { close } of this.#open.values()) close();
    removePortFiles(this.#options.sessionDir);
  }
}
