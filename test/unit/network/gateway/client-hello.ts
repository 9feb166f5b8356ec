// First messages of TLS clients, as odd as needed.

/** A ClientHello with these extensions, each a type and a body in hexadecimal. */
export function helloWith(extensions: readonly [number, string][]): Buffer {
  const sized = (bytes: Buffer, size: number): Buffer => {
    const length = Buffer.alloc(size);
    length.writeUIntBE(bytes.length, 0, size);
    return Buffer.concat([length, bytes]);
  };
  const list = extensions.map(([type, hex]) =>
    Buffer.concat([Buffer.of(type >> 8, type & 255), sized(Buffer.from(hex, 'hex'), 2)]),
  );
  const body = [
    Buffer.alloc(34),
    Buffer.of(0),
    sized(Buffer.of(0x13, 1), 2),
    sized(Buffer.of(0), 1),
    sized(Buffer.concat(list), 2),
  ];
  return Buffer.concat([Buffer.of(22, 3, 1), sized(Buffer.concat([Buffer.of(1), sized(Buffer.concat(body), 3)]), 2)]);
}

/** The body of a server_name extension, in hexadecimal. */
export const serverName = (text: string): string => {
  const hex = Buffer.from(text).toString('hex');
  const entry = `00${text.length.toString(16).padStart(4, '0')}${hex}`;
  return `${(entry.length / 2).toString(16).padStart(4, '0')}${entry}`;
};

/** The same handshake message in records of that many bytes each. */
export function fragmented(record: Buffer, size: number): Buffer {
  const message = record.subarray(5);
  const parts: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    parts.push(Buffer.of(22, 3, 1, part.length >> 8, part.length & 255), part);
  }
  return Buffer.concat(parts);
}
