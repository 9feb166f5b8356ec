// Written by `npm run generate` from src/core/secrets: edit it there.
// @ts-nocheck
import { constants, inflateRawSync } from "node:zlib";
// src/core/secrets/search-contents.ts
const MAX_SEARCHED_BYTES = 67108864;
const MAX_INFLATED_BYTES = 67108864;
const MOST_INFLATION = 1033;
const MAX_STREAMS = 16;
const MAX_DEPTH = 2;
const MAGIC = Uint8Array.of(31, 139, 8);
function searchContents(values, bytes) {
	const found = new Set();
	searchInto(values, bytes, found, 0);
	return found;
}
function searchInto(values, bytes, found, depth) {
	const parts = bytes.length <= 134217728 ? [bytes] : [bytes.subarray(0, MAX_SEARCHED_BYTES), bytes.subarray(-67108864)];
	let streams = 0;
	for (const part of parts) {
		const search = values.search();
		search.push(part);
		for (const value of search.found) found.add(value);
		if (depth >= MAX_DEPTH) continue;
		for (const at of gzipStreams(part)) {
			streams += 1;
			if (streams > MAX_STREAMS) return;
			const inflated = inflate(part.subarray(at));
			if (inflated !== void 0) searchInto(values, inflated, found, depth + 1);
		}
	}
}
function* gzipStreams(bytes) {
	const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
	for (let at = buffer.indexOf(MAGIC); at >= 0; at = buffer.indexOf(MAGIC, at + 1)) yield at;
}
function inflate(bytes) {
	const deflated = bytes.subarray(headerLength(bytes));
	for (const part of [deflated, deflated.subarray(0, MAX_INFLATED_BYTES / MOST_INFLATION)]) try {
		return inflateRawSync(part, {
			finishFlush: constants.Z_SYNC_FLUSH,
			maxOutputLength: MAX_INFLATED_BYTES
		});
	} catch (error) {
		if (error.code !== "ERR_BUFFER_TOO_LARGE") return void 0;
	}
}
function headerLength(bytes) {
	const flags = bytes[3] ?? 0;
	let length = 10;
	if ((flags & EXTRA) !== 0) length += 2 + (bytes[length] ?? 0) + 256 * (bytes[length + 1] ?? 0);
	for (const field of [NAME, COMMENT]) if ((flags & field) !== 0) {
		const end = bytes.indexOf(0, length);
		length = end < 0 ? bytes.length : end + 1;
	}
	return (flags & HEADER_CHECKSUM) === 0 ? length : length + 2;
}
const [HEADER_CHECKSUM, EXTRA, NAME, COMMENT] = [
	2,
	4,
	8,
	16
];
// src/core/secrets/automaton.ts
const MAX_PATTERN_BYTES = 12e4;
var Automaton = class {
	#classes = new Uint8Array(256);
	#width;
	#next;
	#found = [void 0];
	isFull;
	constructor(patterns) {
		const taken = withinLimit(patterns);
		this.isFull = taken.length < patterns.length;
		let width = 1;
		for (const { bytes } of taken) for (const byte of bytes) if (this.#classes[byte] === 0) {
			this.#classes[byte] = width;
			width += 1;
		}
		this.#width = width;
		const size = taken.reduce((sum, { bytes }) => sum + bytes.length, 1);
		this.#next = new Int32Array(size * width);
		for (const pattern of taken) this.#add(pattern);
		this.#link();
	}
	step(state, byte) {
		return this.#next[state * this.#width + this.#classes[byte]];
	}
	found(state) {
		return this.#found[state];
	}
	#add({ bytes, value }) {
		let state = 0;
		for (const byte of bytes) {
			const at = state * this.#width + this.#classes[byte];
			if (this.#next[at] === 0) {
				this.#next[at] = this.#found.length;
				this.#found.push(void 0);
			}
			state = this.#next[at];
		}
		if (state !== 0) this.#found[state] = union(this.#found[state], [value]);
	}
	#link() {
		const width = this.#width;
		const fallback = new Int32Array(this.#found.length);
		const queue = [0];
		for (let read = 0; read < queue.length; read += 1) {
			const state = queue[read];
			const back = fallback[state];
			if (state !== 0) this.#found[state] = union(this.#found[state], this.#found[back]);
			for (let at = 0; at < width; at += 1) {
				const child = this.#next[state * width + at];
				const otherwise = state === 0 ? 0 : this.#next[back * width + at];
				if (child === 0) this.#next[state * width + at] = otherwise;
				else {
					fallback[child] = otherwise;
					queue.push(child);
				}
			}
		}
	}
};
function union(one, other) {
	if (one === void 0 || other === void 0) return one ?? other;
	return [...new Set([...one, ...other])];
}
function withinLimit(patterns) {
	let size = 0;
	return patterns.filter(({ bytes }) => {
		size += bytes.length;
		return bytes.length > 0 && size <= MAX_PATTERN_BYTES;
	});
}
const PIECE = 32;
const LONG = 128;
const PLACES = [
	.4,
	.55,
	.7
];
const MIN_DIFFERENT = 5;
const MIN_BITS = 37;
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const encoder = new TextEncoder();
function piecesOf(value) {
	const body = (/^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:([^\s/@]+)@/i.exec(value)?.[1] ?? value).replace(/-----[A-Z ]+-----/g, "").replace(/\\n|\s+/g, "");
	return (body.length <= PIECE ? [body] : body.length <= LONG ? [body.slice(-32)] : PLACES.map((place) => body.slice(Math.floor(body.length * place)).slice(0, PIECE))).filter((piece) => piece.length >= 8 && new Set(piece).size >= MIN_DIFFERENT && bitsOf(piece) >= MIN_BITS);
}
function bitsOf(piece) {
	const size = ALPHABETS.find(([characters]) => characters.test(piece))?.[1] ?? 64;
	return piece.length * Math.log2(size);
}
const ALPHABETS = [
	[/^[\d.:+-]*$/, 10],
	[/^[\da-f.:-]*$/i, 16],
	[/^(?:[a-z]*|[A-Z]*)$/, 26],
	[/^(?:[\da-z]*|[\dA-Z]*)$/, 36]
];
function spellings(values) {
	return patternsOf(values, (bytes) => {
		const hex = baseOf(bytes, 4, "0123456789abcdef", 0);
		return [
			bytes,
			bytes.toReversed(),
			hex,
			upperCase(hex),
			...base64Forms(bytes)
		];
	});
}
function spellingsInNames(values) {
	return patternsOf(values, (bytes) => {
		const hex = baseOf(bytes, 4, "0123456789abcdef", 0);
		const base32 = [
			0,
			1,
			2,
			3,
			4
		].map((before) => baseOf(bytes, 5, BASE32, before));
		return [
			bytes,
			bytes.toReversed(),
			hex,
			...base64Forms(bytes),
			...base32
		].map(lowerCase);
	});
}
function patternsOf(values, formsOf) {
	return values.flatMap((value, index) => piecesOf(value).flatMap((piece) => formsOf(encoder.encode(piece)).map((bytes) => ({
		bytes,
		value: index
	}))));
}
function base64Forms(bytes) {
	return [
		0,
		1,
		2
	].flatMap((before) => {
		const plain = baseOf(bytes, 6, BASE64, before);
		const forUrls = plain.map((byte) => byte === PLUS ? MINUS : byte === SLASH ? UNDERSCORE : byte);
		return forUrls.every((byte, at) => byte === plain[at]) ? [plain] : [plain, forUrls];
	});
}
const [PLUS = 0, SLASH = 0, MINUS = 0, UNDERSCORE = 0] = encoder.encode("+/-_");
function baseOf(bytes, bits, alphabet, before) {
	const first = Math.ceil(before * 8 / bits);
	const end = Math.floor((before + bytes.length) * 8 / bits);
	const bitAt = (at) => (bytes[(at >> 3) - before] ?? 0) >> 7 - (at & 7) & 1;
	return Uint8Array.from({ length: Math.max(0, end - first) }, (_, index) => {
		let digit = 0;
		for (let bit = 0; bit < bits; bit += 1) digit = digit * 2 + bitAt((first + index) * bits + bit);
		return alphabet.charCodeAt(digit);
	});
}
const [A = 0, Z = 0, LOWER_A = 0, LOWER_Z = 0] = encoder.encode("AZaz");
const lowerCase = (bytes) => bytes.map((one) => one >= A && one <= Z ? one + 32 : one);
const upperCase = (bytes) => bytes.map((one) => one >= LOWER_A && one <= LOWER_Z ? one - 32 : one);
// src/core/secrets/value-search.ts
const [CR, LF, TAB, SPACE, PERCENT, BACKSLASH] = [
	13,
	10,
	9,
	32,
	37,
	92
];
const [LOWER_U, LOWER_X] = [117, 120];
const SHORT_ESCAPES = new Map([
	[98, 8],
	[102, 12],
	[110, LF],
	[114, CR],
	[116, TAB]
]);
var SearchedValues = class {
	automaton;
	#names;
	constructor(values) {
		this.automaton = new Automaton(spellings(values));
		this.#names = new Automaton(spellingsInNames(values));
	}
	search() {
		return new ValueSearch(this.automaton);
	}
	inName(name) {
		const found = new Set();
		let state = 0;
		for (const byte of new TextEncoder().encode(name.toLowerCase().replaceAll(".", ""))) {
			state = this.#names.step(state, byte);
			for (const value of this.#names.found(state) ?? []) found.add(value);
		}
		return [...found];
	}
};
var ValueSearch = class {
	#automaton;
	#found = new Set();
	#plain;
	#decoded;
	#escape = [];
	steps = 0;
	constructor(automaton) {
		this.#automaton = automaton;
		this.#plain = {
			state: 0,
			isAfterBreak: false
		};
		this.#decoded = {
			state: 0,
			isAfterBreak: false
		};
	}
	get found() {
		return this.#found;
	}
	push(bytes) {
		const before = this.#found.size;
		const [plain, decoded] = [this.#plain, this.#decoded];
		const isSame = this.#escape.length === 0 && plain.state === decoded.state && plain.isAfterBreak === decoded.isAfterBreak && !bytes.includes(PERCENT) && !bytes.includes(BACKSLASH);
		for (const byte of bytes) {
			this.#read(plain, byte);
			if (!isSame) this.#decode(byte);
		}
		if (isSame) Object.assign(decoded, plain);
		return this.#found.size > before;
	}
	#read(view, byte) {
		if (byte === LF || byte === CR) {
			view.isAfterBreak = true;
			return;
		}
		if (view.isAfterBreak && (byte === SPACE || byte === TAB)) return;
		view.isAfterBreak = false;
		this.steps += 1;
		view.state = this.#automaton.step(view.state, byte);
		const found = this.#automaton.found(view.state);
		if (found !== void 0) for (const value of found) this.#found.add(value);
	}
	#decode(byte) {
		const begun = this.#escape;
		if (begun.length === 0) {
			if (byte === PERCENT || byte === BACKSLASH) begun.push(byte);
			else this.#read(this.#decoded, byte);
			return;
		}
		if (begun.length === 1 && begun[0] === BACKSLASH && byte !== LOWER_U && byte !== LOWER_X) {
			this.#escape = [];
			this.#read(this.#decoded, SHORT_ESCAPES.get(byte) ?? byte);
			return;
		}
		if ((begun[0] === PERCENT || begun.length > 1) && hexDigit(byte) === void 0) {
			this.#escape = [];
			for (const one of begun) this.#read(this.#decoded, one);
			this.#decode(byte);
			return;
		}
		begun.push(byte);
		if (begun.length < lengthOf(begun)) return;
		this.#escape = [];
		const code = (begun[0] === PERCENT ? begun.slice(1) : begun.slice(2)).reduce((sum, one) => sum * 16 + (hexDigit(one) ?? 0), 0);
		this.#read(this.#decoded, code < 128 ? code : 0);
	}
};
function lengthOf([first, second]) {
	if (first === PERCENT) return 3;
	return second === LOWER_U ? 6 : 4;
}
function hexDigit(byte) {
	if (byte >= 48 && byte <= 57) return byte - 48;
	const lower = byte | 32;
	return lower >= 97 && lower <= 102 ? lower - 87 : void 0;
}
export { MAX_INFLATED_BYTES, MAX_SEARCHED_BYTES, SearchedValues, ValueSearch, searchContents };
