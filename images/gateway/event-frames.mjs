// The events inside an answer of Amazon Bedrock (application/vnd.amazon.eventstream): frames of a length, the length of
// their headers, a checksum, headers, a payload and a checksum; the payload is JSON whose `bytes` hold one event.

/** A frame of the service is at most 16 MB. */
const MAX_FRAME = 16 * 1024 * 1024;

export class EventFrames {
  constructor() {
    /** @type {Uint8Array[]} */
    this.parts = [];
    this.size = 0;
    /** The format is not as announced: nothing more is read. */
    this.lost = false;
  }

  /** Texts of the events that these bytes complete. @param {Uint8Array} bytes @returns {string[]} */
  push(bytes) {
    if (this.lost) return [];
    this.parts.push(bytes);
    this.size += bytes.length;
    /** @type {string[]} */
    const events = [];
    let all = this.size >= 12 ? Buffer.concat(this.parts) : undefined;
    while (all !== undefined && all.length >= 12) {
      const length = all.readUInt32BE(0);
      const headers = all.readUInt32BE(4);
      if (length > MAX_FRAME || headers + 16 > length) {
        this.lost = true;
        return events;
      }
      if (all.length < length) break;
      const event = eventOf(all.toString('utf8', 12 + headers, length - 4));
      if (event !== undefined) events.push(event);
      all = all.subarray(length);
    }
    if (all !== undefined) {
      this.parts = [all];
      this.size = all.length;
    }
    return events;
  }
}

/** @param {string} payload @returns {string | undefined} */
function eventOf(payload) {
  try {
    const { bytes } = JSON.parse(payload);
    return typeof bytes === 'string' ? Buffer.from(bytes, 'base64').toString('utf8') : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}
