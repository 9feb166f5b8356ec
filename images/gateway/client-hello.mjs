// Reads the server name out of a TLS ClientHello (RFC 8446 4.1.2, RFC 6066 3) without taking part in the handshake.

const MAX_HELLO = 64 * 1024;
/** Records of one message: clients that split it on purpose make a handful. Each of them reads all before it again. */
const MAX_RECORDS = 64;
/** Of a record, and of the message in it. */
const [RECORD_HEAD, MESSAGE_HEAD] = [5, 4];

/**
 * What the first bytes of a connection are. 'more': not enough bytes yet; with fewer than `needs` bytes the answer stays
 * the same. 'plain': not TLS.
 * @typedef {{ kind: 'more', needs: number } | { kind: 'plain' } | { kind: 'bad', why: string }
 *   | { kind: 'hello', serverName: string | undefined, encrypted: boolean }} FirstBytes
 */

class Short extends Error {}

class Reader {
  /** @param {Buffer} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  /** @param {number} length */
  take(length) {
    if (this.at + length > this.bytes.length) throw new Short('truncated');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
  /** @param {number} size */
  number(size) {
    return this.take(size).readUIntBE(0, size);
  }
  /** @param {number} size of the length in front */
  vector(size) {
    return this.take(this.number(size));
  }
  get done() {
    return this.at >= this.bytes.length;
  }
}

/** The handshake bytes of the leading records; a number: how many bytes are needed for more; a text: why they are none.
 * @param {Buffer} bytes @returns {Buffer | string | number} */
function handshakeOf(bytes) {
  /** @type {Buffer[]} */
  const parts = [];
  let size = 0;
  let at = 0;
  for (;;) {
    if (parts.length > MAX_RECORDS) return 'a ClientHello in too many pieces';
    if (size >= MESSAGE_HEAD) {
      const head = Buffer.concat(parts, MESSAGE_HEAD);
      const length = head.readUIntBE(1, 3);
      if (head[0] !== 1) return 'not a ClientHello';
      if (length > MAX_HELLO) return 'ClientHello too long';
      if (size >= length + MESSAGE_HEAD) return Buffer.concat(parts, length + MESSAGE_HEAD).subarray(MESSAGE_HEAD);
    }
    if (bytes.length - at < RECORD_HEAD) return at + RECORD_HEAD;
    if (bytes[at] !== 22 || bytes[at + 1] !== 3) return 'not a handshake record';
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > 16384) return 'bad record length';
    const end = at + RECORD_HEAD + length;
    if (bytes.length < end) return end;
    parts.push(bytes.subarray(at + RECORD_HEAD, end));
    size += length;
    at = end;
  }
}

/** @param {Buffer} extension @returns {string} */
function nameOf(extension) {
  const list = new Reader(new Reader(extension).vector(2));
  /** @type {string[]} */
  const names = [];
  while (!list.done) {
    const type = list.number(1);
    const name = list.vector(2).toString('latin1');
    if (type === 0) names.push(name);
  }
  if (names.length !== 1) throw new Short('not one server name');
  return String(names[0]);
}

/** @param {Buffer} bytes everything received so far @returns {FirstBytes} */
export function readClientHello(bytes) {
  if (bytes.length === 0) return { kind: 'more', needs: 1 };
  if (bytes[0] !== 22) return { kind: 'plain' };
  if (bytes.length > MAX_HELLO) return { kind: 'bad', why: 'ClientHello too long' };
  const hello = handshakeOf(bytes);
  if (typeof hello === 'number') return { kind: 'more', needs: hello };
  if (typeof hello === 'string') return { kind: 'bad', why: hello };
  try {
    return extensionsOf(new Reader(hello));
  } catch (error) {
    if (error instanceof Short) return { kind: 'bad', why: 'malformed ClientHello' };
    throw error;
  }
}

/** @param {Reader} reader @returns {FirstBytes} */
function extensionsOf(reader) {
  reader.take(2 + 32);
  reader.vector(1);
  reader.vector(2);
  reader.vector(1);
  /** @type {string | undefined} */
  let serverName;
  let encrypted = false;
  if (reader.done) return { kind: 'hello', serverName, encrypted };
  const extensions = new Reader(reader.vector(2));
  const seen = new Set();
  while (!extensions.done) {
    const type = extensions.number(2);
    const body = extensions.vector(2);
    // RFC 8446 4.2: no extension twice. A second server name would be one that only one side reads.
    if (seen.has(type)) return { kind: 'bad', why: 'an extension twice' };
    seen.add(type);
    if (type === 0) serverName = nameOf(body);
    // encrypted_client_hello, its drafts and encrypted_server_name: the server may act on another name than the
    // visible one.
    if ((type >= 0xfe08 && type <= 0xfe0f) || type === 0xff02 || type === 0xffce) encrypted = true;
  }
  return { kind: 'hello', serverName, encrypted };
}
