// A day of sessions over many nodes, for docs/explanation/scale.md. Pure: bench/scale.mjs gives the parameters.
import { logNormal, randomFrom, submitTimes, zipf } from './scale-model.mjs';

/**
 * @typedef {object} Fleet
 * @property {number} sessions a day
 * @property {number} nodes
 * @property {number} days simulated; the last one is reported
 * @property {readonly number[]} shape the day's 24 hours
 * @property {{ median: number, spread: number }} lengthS of a session
 * @property {number} copies of projects on the machines that submit: each has a base of its own
 * @property {{ median: number, spread: number }} projectBytes
 * @property {number} slots sessions that a node takes
 * @property {number} editsADay share of a project's bytes that differ after a day
 * @property {number} fixedBytes to the engine for each start, whatever the project
 * @property {number} bytesPerByte bytes on the wire for a byte of the project
 * @property {'fewest' | 'warm'} placement fewest: the node with the fewest sessions; warm: of those that have the base, if one is free
 *
 * @typedef {object} Day
 * @property {number} sessions
 * @property {number} whole starts that sent a whole base
 * @property {number} baseBytes @property {number} differenceBytes @property {number} fixedBytes
 * @property {number} peakHourBytes all three, in the hour with the most
 * @property {number} peakRunning @property {number} peakOnNode
 * @property {number} peakSubmits in one second @property {number} peakMinute submits in one minute
 * @property {number} peakWaiting sessions that wait for a node @property {number} waitS the longest
 * @property {number} meanLengthS
 * @property {number} nodeBytes of all bases on the fullest node
 */

const DAY_S = 86_400;

/** @param {Map<number, number>} counts @param {number} key */
function countAt(counts, key) {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Times with what ends then, the earliest first. */
class Ends {
  /** @type {{ at: number, node: number }[]} */
  #heap = [];

  /** @returns {number} when the next one ends */
  get next() {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY;
  }

  /** @param {number} at @param {number} node */
  push(at, node) {
    const heap = this.#heap;
    let index = heap.push({ at, node }) - 1;
    for (let above = (index - 1) >> 1; index > 0 && (heap[above]?.at ?? 0) > at; above = (index - 1) >> 1) {
      heap[index] = /** @type {{ at: number, node: number }} */ (heap[above]);
      index = above;
    }
    heap[index] = { at, node };
  }

  /** @returns {number} the node */
  pop() {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) throw new Error('nothing runs');
    let index = 0;
    while (heap.length > 0) {
      let below = 2 * index + 1;
      if ((heap[below + 1]?.at ?? Number.POSITIVE_INFINITY) < (heap[below]?.at ?? Number.POSITIVE_INFINITY)) below += 1;
      const smaller = heap[below];
      if (smaller === undefined || smaller.at >= last.at) break;
      heap[index] = smaller;
      index = below;
    }
    if (heap.length > 0) heap[index] = last;
    return first.node;
  }
}

/** @param {Fleet} fleet @returns {Day} */
export function simulateFleet(fleet) {
  const { nodes, days, slots, placement } = fleet;
  const random = randomFrom(1);
  const pick = zipf(fleet.copies);
  const sizes = Array.from({ length: fleet.copies }, () => logNormal(random, fleet.projectBytes));
  const running = new Array(nodes).fill(0);
  const stored = new Array(nodes).fill(0);
  /** By project: the node, and when its base was sent there. @type {Map<number, number>[]} */
  const bases = sizes.map(() => new Map());
  const ends = new Ends();
  /** @type {{ project: number, at: number }[]} */
  const waiting = [];
  let [served, total] = [0, 0];
  const from = (days - 1) * DAY_S;
  const day = {
    ...{ sessions: 0, whole: 0, baseBytes: 0, differenceBytes: 0, fixedBytes: 0, peakHourBytes: 0, peakRunning: 0 },
    ...{ peakOnNode: 0, peakSubmits: 0, peakMinute: 0, peakWaiting: 0, waitS: 0, meanLengthS: 0, nodeBytes: 0 },
  };
  const hours = new Array(24).fill(0);
  let lengths = 0;

  /** The node with the fewest sessions; undefined where all are full. @param {Iterable<number>} among */
  const fewest = (among) => {
    /** @type {number | undefined} */
    let best;
    for (const node of among)
      if (running[node] < slots && (best === undefined || running[node] < running[best])) best = node;
    return best;
  };
  // Shifted each time: of nodes with equally few sessions the first would get most.
  const every = Array.from({ length: nodes }, (_, at) => at);
  const shifted = () => {
    const first = Math.floor(random() * nodes);
    return every.slice(first).concat(every.slice(0, first));
  };
  /** @param {number} project @param {number} at @param {number} asked */
  const start = (project, at, asked) => {
    const known = /** @type {Map<number, number>} */ (bases[project]);
    const warm = placement === 'warm' ? fewest(known.keys()) : undefined;
    const node = warm ?? fewest(shifted());
    if (node === undefined) return false;
    const size = sizes[project] ?? 0;
    const sentAt = known.get(node);
    const share = sentAt === undefined ? 1 : Math.min(1, (fleet.editsADay * (at - sentAt)) / DAY_S);
    const bytes = size * share * fleet.bytesPerByte;
    if (sentAt === undefined) stored[node] += size;
    known.set(node, at);
    running[node] += 1;
    total += 1;
    const lengthS = logNormal(random, fleet.lengthS);
    ends.push(at + lengthS, node);
    if (at < from) return true;
    day.sessions += 1;
    if (sentAt === undefined) day.whole += 1;
    if (sentAt === undefined) day.baseBytes += bytes;
    else day.differenceBytes += bytes;
    day.fixedBytes += fleet.fixedBytes;
    hours[Math.floor(at / 3600) % 24] += bytes + fleet.fixedBytes;
    lengths += lengthS;
    day.peakRunning = Math.max(day.peakRunning, total);
    day.peakOnNode = Math.max(day.peakOnNode, running[node]);
    day.waitS = Math.max(day.waitS, at - asked);
    return true;
  };
  /** @param {number} until */
  const endUntil = (until) => {
    while (ends.next <= until) {
      const at = ends.next;
      running[ends.pop()] -= 1;
      total -= 1;
      const first = waiting[served];
      if (first !== undefined && start(first.project, at, first.at)) served += 1;
    }
  };
  /** @type {Map<number, number>} */
  const seconds = new Map();
  /** @type {Map<number, number>} */
  const minutes = new Map();
  for (const at of submitTimes(random, fleet)) {
    endUntil(at);
    const project = pick(random);
    if (served < waiting.length || !start(project, at, at)) waiting.push({ project, at });
    if (at < from) continue;
    day.peakWaiting = Math.max(day.peakWaiting, waiting.length - served);
    countAt(seconds, Math.floor(at));
    countAt(minutes, Math.floor(at / 60));
  }
  endUntil(Number.MAX_VALUE);
  day.peakSubmits = Math.max(0, ...seconds.values());
  day.peakMinute = Math.max(0, ...minutes.values());
  day.peakHourBytes = Math.max(...hours);
  day.meanLengthS = lengths / Math.max(1, day.sessions);
  day.nodeBytes = Math.max(...stored);
  return day;
}
