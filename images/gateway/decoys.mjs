// Decoys of masked files in what the agent sends. To its provider a decoy says that the agent has read the file. To any other
// host nothing passes that has one, as far as the gateway can read it.
import { Transform } from 'node:stream';
import zlib from 'node:zlib';
import { Refused } from './egress.mjs';
import { SearchedValues, searchContents } from './generated/search-values.mjs';

/**
 * @typedef {import('../../src/core/types/gateway.ts').GatewayConfig['decoys'][number]} Decoy
 * @typedef {import('../../src/core/types/gateway.ts').DecoyPlace} DecoyPlace
 * @typedef {{ found: ReadonlySet<number>, push(bytes: Uint8Array): boolean }} Search
 */

/** What inflates a body, by its content-encoding. @type {Readonly<Record<string, () => import('node:stream').Transform>>} */
const CODINGS = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
};
const GZIP = Uint8Array.of(0x1f, 0x8b, 8);
/** Streams of one body that are inflated at the same time, and what of them all is searched. */
const MAX_INFLATERS = 4;
const MAX_INFLATED = 256 * 1024 * 1024;

/** A request with a decoy to another host than the provider. */
export class DecoySent extends Refused {
  /** @param {readonly DecoyPlace[]} decoys */
  constructor(decoys) {
    const [{ path, name } = { path: '', name: undefined }] = decoys;
    super(`it has a value of the masked file ${path}${name === undefined ? '' : ` (${name})`}, which must not leave`);
    this.decoys = decoys;
  }
}

/** What a log entry says of a refusal. @param {unknown} error */
export const decoysOf = (error) => (error instanceof DecoySent ? { decoys: error.decoys } : {});

/** Finds a session's decoys in what the agent sends. */
export class DecoyWatch {
  constructor() {
    /** @type {readonly Decoy[]} */
    this.decoys = [];
    this.values = new SearchedValues([]);
  }

  /** @param {readonly Decoy[]} decoys */
  setDecoys(decoys) {
    this.decoys = decoys;
    this.values = new SearchedValues(decoys.map(({ value }) => value));
  }

  get isActive() {
    return this.decoys.length > 0;
  }

  /** Where values are from, each place once. @param {Iterable<number>} found @returns {readonly DecoyPlace[]} */
  places(found) {
    /** @type {Map<string, DecoyPlace>} */
    const places = new Map();
    for (const index of found) {
      const { path, name } = /** @type {Decoy} */ (this.decoys[index]);
      places.set(`${path}\0${name ?? ''}`, { path, ...(name === undefined ? {} : { name }) });
    }
    return [...places.values()];
  }

  /** Throws DecoySent. @param {Iterable<number>} found */
  refuse(found) {
    const places = this.places(found);
    if (places.length > 0) throw new DecoySent(places);
  }

  /** A name that would be resolved. Throws DecoySent. @param {string} host */
  judgeName(host) {
    if (this.isActive) this.refuse(this.values.inName(host));
  }

  /** The line and headers of a request. Throws DecoySent. @param {readonly string[]} texts each is searched by itself */
  judgeTexts(texts) {
    if (!this.isActive) return;
    for (const text of texts) this.refuse(searchContents(this.values, Buffer.from(text, 'latin1')));
  }

  /** A body in memory. Throws DecoySent. @param {Buffer} bytes */
  judgeBytes(bytes) {
    if (this.isActive) this.refuse(searchContents(this.values, bytes));
  }

  /** The decoys of a request to the provider, for its log entry. @param {Buffer} bytes */
  read(bytes) {
    const places = this.isActive ? this.places(searchContents(this.values, bytes)) : [];
    return places.length === 0 ? {} : { decoys: places };
  }

  /** What a body passes through: it ends with DecoySent before a decoy is complete. Undefined without decoys.
   * @param {string} [coding] its content-encoding */
  stream(coding) {
    return this.isActive ? new WatchedBody(this, coding) : undefined;
  }

  /** As `stream`, for what a client sends over a WebSocket. */
  webSocket() {
    return this.isActive ? new WatchedWebSocket(this) : undefined;
  }
}

/** Searches bytes, and what they inflate to. */
class Searching {
  /** @param {DecoyWatch} watch @param {string} [coding] */
  constructor(watch, coding) {
    this.watch = watch;
    /** @type {Search[]} */
    this.searches = [watch.values.search()];
    /** @type {import('node:stream').Transform[]} */
    this.inflaters = [];
    this.inflated = 0;
    const make = coding === undefined ? undefined : CODINGS[coding.trim().toLowerCase()];
    if (make !== undefined) this.add(make());
  }

  /** @param {import('node:stream').Transform} inflater @returns {import('node:stream').Transform} */
  add(inflater) {
    const search = this.watch.values.search();
    this.searches.push(search);
    this.inflaters.push(inflater);
    inflater.on('data', (bytes) => {
      this.inflated += bytes.length;
      if (this.inflated > MAX_INFLATED) inflater.destroy();
      else search.push(bytes);
    });
    // Not a stream after all, or its end.
    const drop = () => {
      this.inflaters = this.inflaters.filter((one) => one !== inflater);
    };
    inflater.on('error', drop).on('close', drop).on('end', drop);
    return inflater;
  }

  /** Resolves when the bytes were searched. Throws DecoySent. @param {Buffer} bytes */
  async push(bytes) {
    this.searches[0]?.push(bytes);
    const open = [...this.inflaters];
    await Promise.all(open.map((inflater) => feed(inflater, bytes)));
    for (let at = bytes.indexOf(GZIP); at >= 0; at = bytes.indexOf(GZIP, at + 1)) {
      if (this.inflaters.length >= MAX_INFLATERS) break;
      await feed(this.add(zlib.createGunzip()), bytes.subarray(at));
    }
    for (const { found } of this.searches) this.watch.refuse(found);
  }
}

/** Resolves when the bytes were inflated, or cannot be. @param {import('node:stream').Transform} inflater
 * @param {Buffer} bytes @returns {Promise<void>} */
function feed(inflater, bytes) {
  return new Promise((done) => {
    if (inflater.destroyed || inflater.writableEnded) return done();
    const over = () => done();
    inflater.once('close', over).once('error', over);
    inflater.write(bytes, () => {
      inflater.off('close', over).off('error', over);
      done();
    });
  });
}

class WatchedBody extends Transform {
  /** @param {DecoyWatch} watch @param {string} [coding] */
  constructor(watch, coding) {
    super();
    this.searching = new Searching(watch, coding);
  }

  /** @override @param {Buffer} bytes @param {string} _encoding @param {(error?: Error | null, bytes?: Buffer) => void} done */
  _transform(bytes, _encoding, done) {
    this.searching.push(bytes).then(
      () => done(null, bytes),
      (error) => done(error),
    );
  }
}

/** Frames of a WebSocket (RFC 6455, 5.2), unmasked for the search. A frame's bytes pass as they are. */
class WatchedWebSocket extends Transform {
  /** @param {DecoyWatch} watch */
  constructor(watch) {
    super();
    this.searching = new Searching(watch);
    /** Of a head that has begun. @type {Buffer} */
    this.head = Buffer.alloc(0);
    /** Bytes of the payload that are still to come. */
    this.left = 0;
    /** @type {Buffer | undefined} */
    this.mask = undefined;
    this.at = 0;
  }

  /** @override @param {Buffer} bytes @param {string} _encoding @param {(error?: Error | null, bytes?: Buffer) => void} done */
  _transform(bytes, _encoding, done) {
    this.searching.push(this.payload(bytes)).then(
      () => done(null, bytes),
      (error) => done(error),
    );
  }

  /** The payload in some bytes, without masks. @param {Buffer} bytes */
  payload(bytes) {
    /** @type {Buffer[]} */
    const parts = [];
    for (let at = 0; at < bytes.length; ) {
      if (this.left > 0) {
        const part = Buffer.from(bytes.subarray(at, at + this.left));
        for (let i = 0; i < part.length; i += 1) part[i] = (part[i] ?? 0) ^ (this.mask?.[(this.at + i) % 4] ?? 0);
        parts.push(part);
        this.at += part.length;
        this.left -= part.length;
        at += part.length;
        continue;
      }
      this.head = Buffer.concat([this.head, bytes.subarray(at, at + 1)]);
      at += 1;
      const size = headSize(this.head);
      if (this.head.length < size) continue;
      const length = (this.head[1] ?? 0) & 127;
      this.left =
        length < 126 ? length : length === 126 ? this.head.readUInt16BE(2) : Number(this.head.readBigUInt64BE(2));
      this.mask = ((this.head[1] ?? 0) & 128) === 0 ? undefined : this.head.subarray(size - 4);
      this.at = 0;
      this.head = Buffer.alloc(0);
    }
    return Buffer.concat(parts);
  }
}

/** Bytes of a frame's head, as far as its beginning says. @param {Buffer} head */
function headSize(head) {
  if (head.length < 2) return 2;
  const length = (head[1] ?? 0) & 127;
  return 2 + (length === 127 ? 8 : length === 126 ? 2 : 0) + (((head[1] ?? 0) & 128) === 0 ? 0 : 4);
}
