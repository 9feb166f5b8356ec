export interface CollectedOutput {
  readonly bytes: Buffer;
  readonly droppedBytes: number;
}

/** The bytes of a stream, up to `limit`. The rest is read and counted. */
export async function collectOutput(stream: NodeJS.ReadableStream, limit: number): Promise<CollectedOutput> {
  const pieces: Buffer[] = [];
  let size = 0;
  let droppedBytes = 0;
  for await (const piece of stream) {
    const bytes = piece as Buffer;
    const kept = bytes.subarray(0, Math.max(0, limit - size));
    if (kept.length > 0) pieces.push(kept);
    size += kept.length;
    droppedBytes += bytes.length - kept.length;
  }
  return { bytes: Buffer.concat(pieces), droppedBytes };
}
