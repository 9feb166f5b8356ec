// node bench/scale.mjs: days of sessions over many nodes, and the limits that they reach. Prints the tables of
// docs/internals/scale.md, which says what was measured and what is assumed. Pure, but for its last lines.

/** What single sessions were measured to need. */
export const MEASURED = {
  sessionMs: 1600,
  commandMb: 76,
  gatewayMb: 18,
  collectorMb: 1,
  /** Bytes to the engine for a byte of a base, compressed. */
  wirePerByte: 1.39 * 0.31,
  fixedTo: 151_000,
  fixedFrom: 199_000,
  /** From the engine, for a changed file of 4,000 bytes. */
  perWritten: 8300,
  storedBytes: 132_000,
  /** Of a record that is kept, in every start. */
  readMs: 0.03,
  gatewayIdleMs: 110,
  gatewayRequestMs: 1.3,
  gatewayMbMs: 8,
};

/** The fleet, and what its sessions do. Assumed where the page names no source. */
export const GIVEN = {
  nodes: 200,
  nodeProcessors: 8,
  nodeMemoryMb: 32_768,
  nodeDiskGb: 200,
  layerMb: 100,
  decideDays: 3,
  users: 100,
  projects: 3,
  projectMb: { median: 60, spread: 1.2 },
  /** Share of a project's bytes that differ after a day. */
  editsADay: 0.01,
  lengthS: { median: 480, spread: 1 },
  agentProcessors: 0.25,
  agentMemoryMb: 2048,
  memoryShare: 0.75,
  requests: 60,
  requestMb: 0.2,
  changedFiles: 10,
  userMemoryMb: 4096,
  userDiskGb: 50,
  readS: 1,
  reviews: 40,
  siteMbit: 1000,
  keptDays: 30,
  dockerNetworks: 30,
  slurmJobs: 10_000,
  slurmKeptS: 300,
  podsOnNode: 110,
  podsOfSession: 2,
  days: 3,
  /** Weights of a day's hours. */
  shape: [1, 1, 1, 1, 1, 1, 2, 4, 8, 10, 10, 9, 7, 9, 10, 10, 9, 7, 4, 3, 2, 2, 1, 1],
};

/** @typedef {typeof GIVEN} Given */
/** @typedef {'fewest' | 'warm'} Placement the node with the fewest sessions, or one of those that have the base */

const MB = 2 ** 20;
const GB = 2 ** 30;
const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;

/** Random numbers in [0, 1) that are the same in every run (mulberry32). @param {number} seed */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `spread`: standard deviation of the logarithm. @param {() => number} random @param {{ median: number, spread: number }} of */
export function logNormal(random, { median, spread }) {
  return median * Math.exp(spread * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));
}

/** An index at random by weights. @param {readonly number[]} weights @returns {(random: () => number) => number} */
export function byWeight(weights) {
  let total = 0;
  const sums = weights.map((one) => (total += one));
  return (random) => {
    const wanted = random() * total;
    return sums.findIndex((sum) => sum > wanted);
  };
}

/** Seconds since the first midnight, rising. @param {() => number} random @param {{ sessions: number, days: number, shape: readonly number[] }} of */
export function submitTimes(random, { sessions, days, shape }) {
  const hour = byWeight(shape);
  const times = Array.from(
    { length: sessions * days },
    (_, at) => Math.floor(at / sessions) * DAY_S + (hour(random) + random()) * HOUR_S,
  );
  return times.sort((a, b) => a - b);
}

/** How many of the rising times are in the fullest part of so many seconds. @param {readonly number[]} times @param {number} seconds */
function fullest(times, seconds) {
  const counts = new Map();
  for (const at of times) counts.set(Math.floor(at / seconds), (counts.get(Math.floor(at / seconds)) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}

/** Sessions that a node has memory for, as `batch` counts. @param {Given} given */
export function slotsOf(given) {
  const { gatewayMb, collectorMb } = MEASURED;
  return Math.floor((given.memoryShare * given.nodeMemoryMb) / (given.agentMemoryMb + gatewayMb + collectorMb));
}

/**
 * Days of sessions on nodes; the last one is reported. A node that lacks the project's base gets the whole of it, any
 * other one what changed since. @param {number} sessions a day @param {Placement} placement @param {Given} [given]
 */
export function simulateDays(sessions, placement, given = GIVEN) {
  const random = randomFrom(1);
  const slots = slotsOf(given);
  const copies = given.users * given.projects;
  // The k-th most used project is used 1/k as often as the first.
  const pick = byWeight(Array.from({ length: copies }, (_, at) => 1 / (at + 1)));
  const sizes = Array.from({ length: copies }, () => logNormal(random, given.projectMb) * MB);
  const running = new Array(given.nodes).fill(0);
  const stored = new Array(given.nodes).fill(0);
  /** By project: the node, and when its base was sent there. @type {Map<number, number>[]} */
  const bases = sizes.map(() => new Map());
  /** The next end is the last one. @type {{ at: number, node: number }[]} */
  const ends = [];
  /** @type {{ project: number, at: number }[]} */
  const waiting = [];
  const hours = new Array(24).fill(0);
  const from = (given.days - 1) * DAY_S;
  const day = { whole: 0, baseBytes: 0, differenceBytes: 0, peakRunning: 0, peakOnNode: 0, peakWaiting: 0 };

  /** @param {Iterable<number>} among @returns {number | undefined} the node with the fewest sessions that has a slot */
  const fewest = (among) => {
    let best;
    for (const node of among) {
      if (running[node] === 0) return node;
      if (running[node] < slots && (best === undefined || running[node] < running[best])) best = node;
    }
    return best;
  };
  /** From a node at random on: of equal ones the first would get most. */
  function* everyNode() {
    const first = Math.floor(random() * given.nodes);
    for (let at = 0; at < given.nodes; at += 1) yield (first + at) % given.nodes;
  }
  /** @param {number} project @param {number} at */
  const start = (project, at) => {
    const known = /** @type {Map<number, number>} */ (bases[project]);
    const node = (placement === 'warm' ? fewest(known.keys()) : undefined) ?? fewest(everyNode());
    if (node === undefined) return false;
    const size = sizes[project] ?? 0;
    const sentAt = known.get(node);
    const share = sentAt === undefined ? 1 : Math.min(1, (given.editsADay * (at - sentAt)) / DAY_S);
    if (sentAt === undefined) stored[node] += size;
    known.set(node, at);
    running[node] += 1;
    const end = { at: at + logNormal(random, given.lengthS), node };
    let place = ends.length;
    while (place > 0 && (ends[place - 1]?.at ?? 0) < end.at) place -= 1;
    ends.splice(place, 0, end);
    if (at < from) return true;
    const bytes = size * share * MEASURED.wirePerByte;
    if (sentAt === undefined) day.whole += 1;
    day[sentAt === undefined ? 'baseBytes' : 'differenceBytes'] += bytes;
    hours[Math.floor(at / HOUR_S) % 24] += bytes + MEASURED.fixedTo;
    day.peakRunning = Math.max(day.peakRunning, ends.length);
    day.peakOnNode = Math.max(day.peakOnNode, running[node]);
    return true;
  };
  /** @param {number} until */
  const endUntil = (until) => {
    for (let next = ends.at(-1); next !== undefined && next.at <= until; next = ends.at(-1)) {
      ends.pop();
      running[next.node] -= 1;
      const first = waiting[0];
      if (first !== undefined && start(first.project, next.at)) waiting.shift();
    }
  };
  const times = submitTimes(random, { sessions, days: given.days, shape: given.shape });
  for (const at of times) {
    endUntil(at);
    const project = pick(random);
    if (waiting.length > 0 || !start(project, at)) waiting.push({ project, at });
    if (at >= from) day.peakWaiting = Math.max(day.peakWaiting, waiting.length);
  }
  endUntil(Number.MAX_VALUE);
  const last = times.filter((at) => at >= from);
  const [peakSubmits, peakMinute] = [fullest(last, 1), fullest(last, 60)];
  return { ...day, peakSubmits, peakMinute, peakHourBytes: Math.max(...hours), nodeBytes: Math.max(...stored) };
}

/** @typedef {ReturnType<typeof simulateDays>} Day */

/** Processor time of a session's gateway, in milliseconds. @param {Given} given */
const gatewayMs = ({ requests, requestMb }) =>
  MEASURED.gatewayIdleMs + requests * (MEASURED.gatewayRequestMs + requestMb * MEASURED.gatewayMbMs);

/** Bytes of the layers on a node that are not decided yet. @param {number} sessions a day @param {Given} given */
const layerBytes = (sessions, given) => (sessions / given.nodes) * given.decideDays * given.layerMb * MB;

/**
 * What a day needs of each thing, as a share of its limit. @param {number} sessions @param {Day} day @param {Given} [given]
 * @returns {Map<string, number>}
 */
export function sharesOf(sessions, day, given = GIVEN) {
  const aUser = sessions / given.users;
  const aSecond = day.peakMinute / 60;
  const readS = (/** @type {number} */ records) => (records * given.keptDays * MEASURED.readMs) / 1000;
  const recordBytes = MEASURED.storedBytes + given.changedFiles * MEASURED.perWritten;
  const processors =
    (aSecond * (MEASURED.sessionMs + gatewayMs(given))) / 1000 + day.peakRunning * given.agentProcessors;
  return new Map([
    ['one machine submits all: a start reads its records in 1 s', readS(sessions) / given.readS],
    ['one machine submits all: memory of its commands', (day.peakRunning * MEASURED.commandMb) / given.userMemoryMb],
    ['40 reviews for each user a day', aUser / given.reviews],
    ["each user's machine: a start reads its records in 1 s", readS(aUser) / given.readS],
    [
      "each user's machine: memory of its commands",
      ((day.peakRunning / given.users) * MEASURED.commandMb) / given.userMemoryMb,
    ],
    ["each user's machine: disk for records", (aUser * given.keptDays * recordBytes) / GB / given.userDiskGb],
    ['1 Gbit/s to the nodes', (day.peakHourBytes * 8) / HOUR_S / 1e6 / given.siteMbit],
    ['memory of the nodes', (day.peakOnNode + day.peakWaiting / given.nodes) / slotsOf(given)],
    ['processors of the nodes', processors / (given.nodes * given.nodeProcessors)],
    ['disk of a node, bases and layers', (day.nodeBytes + layerBytes(sessions, given)) / GB / given.nodeDiskGb],
    ['Docker: networks of one engine', day.peakOnNode / given.dockerNetworks],
    [
      'Slurm: jobs of one controller',
      (day.peakRunning + day.peakWaiting + aSecond * given.slurmKeptS) / given.slurmJobs,
    ],
    ['Kubernetes: pods of one node', (day.peakOnNode * given.podsOfSession) / given.podsOnNode],
  ]);
}

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
const table = (head, rows) =>
  [head, ['---', ...head.slice(1).map(() => '---:')], ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
const whole = (/** @type {number} */ value) => Math.round(value).toLocaleString('en-US');
const bytes = (/** @type {number} */ value) =>
  `${whole(value / 1e8).length > 2 ? whole(value / 1e9) : (value / 1e9).toFixed(1)} GB`;

/** @param {number} sessions @returns {string} the table of one day, for both placements */
export function drawDay(sessions) {
  const days = [simulateDays(sessions, 'fewest'), simulateDays(sessions, 'warm')];
  /** @type {[string, (day: Day) => string][]} */
  const rows = [
    ['starts that send a whole base', (day) => whole(day.whole)],
    ['bytes of bases', (day) => bytes(day.baseBytes)],
    ['bytes of differences', (day) => bytes(day.differenceBytes)],
    ['bytes that every start sends', () => bytes(sessions * MEASURED.fixedTo)],
    ['bytes that come back', () => bytes(sessions * (MEASURED.fixedFrom + GIVEN.changedFiles * MEASURED.perWritten))],
    ['peak hour, to the nodes', (day) => `${((day.peakHourBytes * 8) / HOUR_S / 1e6).toFixed(1)} Mbit/s`],
    ['bases on the fullest node', (day) => bytes(day.nodeBytes)],
    ['layers on a node that are not decided yet', () => bytes(layerBytes(sessions, GIVEN))],
    ['sessions at once, at the peak', (day) => whole(day.peakRunning)],
    ['of them on the fullest node', (day) => whole(day.peakOnNode)],
    ['submits in the fullest second, minute', (day) => `${day.peakSubmits}, ${day.peakMinute}`],
    ['sessions that wait for a node', (day) => whole(day.peakWaiting)],
  ];
  return table(
    ['', 'node with the fewest sessions', 'node that has the base'],
    rows.map(([what, of]) => [what, ...days.map(of)]),
  );
}

/** @param {readonly number[]} counts sessions a day @returns {string} the share of each limit that these days need */
export function drawLimits(counts) {
  const shares = counts.map((sessions) => sharesOf(sessions, simulateDays(sessions, 'fewest')));
  const names = [...(shares[0]?.keys() ?? [])];
  const rows = names.map((name) => [name, ...shares.map((one) => `${whole((one.get(name) ?? 0) * 100)}%`)]);
  return table(['limit', ...counts.map(whole)], rows);
}

if (process.argv[1] === import.meta.filename) {
  process.stdout.write(`${drawDay(10_000)}\n\n${drawLimits([10_000, 20_000, 50_000, 100_000])}\n`);
}
