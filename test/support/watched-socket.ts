import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';

export interface WatchedSocket {
  readonly socketPath: string;
  /** What containers and volumes were asked for, as JSON; those refused too. */
  readonly asked: readonly string[];
  /** Paths of the engine's machine that were named as if that were this one, each of them refused. */
  readonly refused: string[];
  close(): void;
}

interface Asked {
  readonly HostConfig?: {
    readonly Binds?: readonly string[] | null;
    readonly Mounts?: readonly { readonly Type?: string; readonly Source?: string }[] | null;
  };
  /** Of a volume. */
  readonly DriverOpts?: Readonly<Record<string, string>> | null;
}

/** The engine's own socket behind one in `dir` that lets no container have a bind mount, as on another machine. */
export async function openWatchedSocket(dir: string, engine = '/var/run/docker.sock'): Promise<WatchedSocket> {
  const socketPath = path.join(dir, 'watched');
  const [asked, refused]: [string[], string[]] = [[], []];
  const open = new Set<Socket>();
  /** Bytes go on as they are, but for what is made: that is looked at first. */
  const watch = async (client: Socket, onward: Socket): Promise<void> => {
    for await (const { body, bytes } of requestParts(client.iterator({ destroyOnReturn: false }))) {
      if (body !== undefined) {
        asked.push(body);
        const bound = boundPath(JSON.parse(body) as Asked);
        if (bound !== undefined) {
          refused.push(bound);
          const message = JSON.stringify({ message: `bind of ${bound}` });
          const head = `HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: ${message.length}`;
          client.end(`${head}\r\nConnection: close\r\n\r\n${message}`);
          onward.destroy();
          return;
        }
      }
      if (!onward.write(bytes)) await writable(onward);
    }
    onward.end();
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const onward = connect({ path: engine, allowHalfOpen: true });
    const end = (): void => {
      client.destroy();
      onward.destroy();
    };
    for (const socket of [client, onward]) {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
      socket.on('error', end);
    }
    onward.pipe(client);
    watch(client, onward).catch(end);
  });
  await new Promise<void>((resolve) => {
    server.listen(socketPath, resolve);
  });
  return {
    socketPath,
    asked,
    refused,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

interface RequestPart {
  readonly bytes: Buffer;
  /** Of a request that makes a container or a volume: these are all of its bytes. */
  readonly body?: string;
}

const HEAD_END = '\r\n\r\n';

/** All that comes in on a connection, cut where its requests begin. What an upgrade leads to is not cut. */
async function* requestParts(chunks: AsyncIterator<Buffer>): AsyncGenerator<RequestPart> {
  let held = Buffer.alloc(0);
  let ended = false;
  const more = async (): Promise<void> => {
    const { done, value } = await chunks.next();
    if (done === true) ended = true;
    else held = Buffer.concat([held, value]);
  };
  /** Up to and with the next `mark`, or all when the connection ends before. */
  const until = async (mark: string): Promise<Buffer> => {
    while (!ended && !held.includes(mark)) await more();
    return cut(held.includes(mark) ? held.indexOf(mark) + mark.length : held.length);
  };
  const cut = (length: number): Buffer => {
    const bytes = held.subarray(0, length);
    held = held.subarray(length);
    return bytes;
  };
  async function* pass(length: number): AsyncGenerator<RequestPart> {
    for (let left = length; left > 0 && !(ended && held.length === 0); ) {
      if (held.length === 0) await more();
      const bytes = cut(Math.min(left, held.length));
      left -= bytes.length;
      yield { bytes };
    }
  }
  while (!ended) {
    const head = await until(HEAD_END);
    const output = head.toString('latin1').toLowerCase();
    const length = Number(/\r\ncontent-length: *(\d+)/.exec(output)?.[1] ?? 0);
    if (/^post [^ ]*\/(containers|volumes)\/create[ ?]/.test(output)) {
      while (!ended && held.length < length) await more();
      const body = cut(length);
      yield { bytes: Buffer.concat([head, body]), body: body.toString() };
      continue;
    }
    yield { bytes: head };
    if (/\r\nupgrade:/.test(output)) yield* pass(Number.POSITIVE_INFINITY);
    else if (!/\r\ntransfer-encoding: *chunked/.test(output)) yield* pass(length);
    else
      for (let size = 1; size > 0 && !ended; ) {
        const line = await until('\r\n');
        size = Number.parseInt(line.toString('latin1'), 16);
        yield { bytes: line };
        yield* pass(size + 2);
      }
  }
}

function boundPath({ HostConfig, DriverOpts }: Asked): string | undefined {
  const mount = HostConfig?.Mounts?.find(({ Type }) => Type === 'bind');
  const named = /(^|,)r?bind(,|$)/.test(DriverOpts?.['o'] ?? '') ? DriverOpts?.['device'] : undefined;
  // A name before the colon is a volume's.
  return mount?.Source ?? HostConfig?.Binds?.find((one) => one.startsWith('/')) ?? named;
}

/** Resolves when the socket takes more, or never will. */
async function writable(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}
