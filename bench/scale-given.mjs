// What the model of docs/explanation/scale.md is given, and the limits that its results are compared with. Pure.
import { simulateFleet } from './scale-fleet.mjs';

/**
 * What bench/scale.mjs measures.
 * @typedef {object} Constants
 * @property {number} sessionMs processor time of a session without its agent's work
 * @property {number} commandMb @property {number} gatewayMb @property {number} collectorMb memory
 * @property {number} wirePerByte bytes to the engine for a byte of a base, before compression
 * @property {number} gzip what compression leaves of them
 * @property {number} fixedTo @property {number} fixedFrom bytes of a start where nothing changed, to and from the engine
 * @property {number} perEdit bytes to the engine for a file of 4,000 bytes that the user edited
 * @property {number} perWritten bytes from the engine for a file of 4,000 bytes that the agent changed
 * @property {number} storedBytes that a session with two small changes leaves on the user's machine
 * @property {number} listMs @property {number} readMs of a record: in `sessions`, and in every start
 * @property {number} gatewayIdleMs @property {number} gatewayRequestMs @property {number} gatewayMbMs processor time of a
 *   gateway: without requests, for each, and for each MB of them
 */

/**
 * The fleet, and what its sessions do. "Assumed": nobody measured it, so change it and run the script again.
 * @type {Record<string, { value: number, unit: string, source: string }>}
 */
export const GIVEN = {
  nodes: { value: 200, unit: 'nodes', source: 'the question' },
  nodeProcessors: { value: 8, unit: 'processors of a node', source: 'assumed' },
  nodeMemoryMb: { value: 32_768, unit: 'MB of memory of a node', source: 'assumed' },
  nodeDiskGb: { value: 200, unit: 'GB of disk of a node, for bases and layers', source: 'assumed' },
  layerMb: { value: 100, unit: 'MB that a session writes, ignored output included', source: 'assumed' },
  decideDays: { value: 3, unit: 'days until a session is decided and its layer removed', source: 'assumed' },
  users: { value: 100, unit: 'users, each on a machine of their own', source: 'assumed' },
  projects: { value: 3, unit: 'projects a user', source: 'assumed' },
  projectMb: { value: 60, unit: 'MB, median of a project', source: 'assumed' },
  projectSpread: { value: 1.2, unit: 'standard deviation of its logarithm', source: 'assumed' },
  editsADay: { value: 0.01, unit: 'of the bytes of a project differ after a day', source: 'assumed' },
  lengthS: { value: 480, unit: 's, median of a session', source: 'assumed' },
  lengthSpread: { value: 1, unit: 'standard deviation of its logarithm', source: 'assumed' },
  agentProcessors: { value: 0.25, unit: 'processors, mean of the agent and its programs', source: 'assumed' },
  agentMemoryMb: {
    value: 2048,
    unit: 'MB, the agent and its programs',
    source: '`src/cli/batch/tasks/default-jobs.ts`',
  },
  memoryShare: {
    value: 0.75,
    unit: "of a node's memory is for sessions",
    source: '`src/cli/batch/tasks/default-jobs.ts`',
  },
  requests: { value: 60, unit: 'requests to the model in a session', source: 'assumed' },
  requestKb: { value: 200, unit: 'KB, mean of a request', source: 'assumed' },
  changedFiles: { value: 10, unit: 'changed files of a session', source: 'assumed' },
  userMemoryMb: { value: 4096, unit: "MB of a user's machine, for run-claude's commands", source: 'assumed' },
  userDiskGb: { value: 50, unit: "GB of a user's disk, for records", source: 'assumed' },
  readS: { value: 1, unit: 's that a start may take to read records', source: 'assumed' },
  reviews: { value: 40, unit: 'sessions that a user reviews in a day', source: 'assumed' },
  siteMbit: { value: 1000, unit: 'Mbit/s from the users to the nodes', source: 'assumed' },
  keptDays: { value: 30, unit: 'days that a record is kept', source: '`docs/reference/sessions.md`' },
  dockerNetworks: {
    value: 30,
    unit: "networks of an engine beside Docker's own",
    source: "Docker's default address pools: 15 of /16 and 16 of /20, one taken",
  },
  slurmJobs: {
    value: 10_000,
    unit: 'jobs that a Slurm controller keeps',
    source: 'slurm.conf(5), default of MaxJobCount',
  },
  slurmKeptS: { value: 300, unit: 's that it keeps an ended job', source: 'slurm.conf(5), default of MinJobAge' },
  podsOnNode: {
    value: 110,
    unit: 'pods of a Kubernetes node',
    source: 'Kubernetes, Considerations for large clusters',
  },
  podsOfSession: { value: 2, unit: 'pods of a session', source: 'assumed: agent and gateway' },
};

/** Weights of a day's hours: office hours of one time zone, and what runs at night. Assumed. */
export const SHAPE = [1, 1, 1, 1, 1, 1, 2, 4, 8, 10, 10, 9, 7, 9, 10, 10, 9, 7, 4, 3, 2, 2, 1, 1];

const MB = 2 ** 20;
const GB = 2 ** 30;
const DAYS = 3;

/** @param {string} name */
export function given(name) {
  const found = GIVEN[name];
  if (found === undefined) throw new Error(`nothing is given as ${name}`);
  return found.value;
}

/** Sessions that a node has memory for, as `batch` counts. @param {Constants} constants */
export function slotsOf({ gatewayMb, collectorMb }) {
  return Math.floor(
    (given('memoryShare') * given('nodeMemoryMb')) / (given('agentMemoryMb') + gatewayMb + collectorMb),
  );
}

/** @param {Constants} constants @param {number} sessions a day @param {'fewest' | 'warm'} placement */
export function dayOf(constants, sessions, placement) {
  return simulateFleet({
    sessions,
    nodes: given('nodes'),
    days: DAYS,
    shape: SHAPE,
    lengthS: { median: given('lengthS'), spread: given('lengthSpread') },
    copies: given('users') * given('projects'),
    projectBytes: { median: given('projectMb') * MB, spread: given('projectSpread') },
    slots: slotsOf(constants),
    editsADay: given('editsADay'),
    fixedBytes: constants.fixedTo,
    bytesPerByte: constants.wirePerByte * constants.gzip,
    placement,
  });
}

/** Processor time of one gateway in a whole session, in milliseconds. @param {Constants} constants */
export function gatewayMs({ gatewayIdleMs, gatewayRequestMs, gatewayMbMs }) {
  return gatewayIdleMs + given('requests') * (gatewayRequestMs + (given('requestKb') / 1000) * gatewayMbMs);
}

/** Bytes that a session leaves on its user's disk. @param {Constants} constants */
export function recordBytes({ storedBytes, perWritten }) {
  return storedBytes + given('changedFiles') * perWritten;
}

/** Bytes of the layers on a node that are not decided yet. @param {number} sessions a day */
export function layerBytes(sessions) {
  return (sessions / given('nodes')) * given('decideDays') * given('layerMb') * MB;
}

/**
 * What a day needs of each thing that has a limit.
 * @param {Constants} constants @param {number} sessions @param {ReturnType<typeof simulateFleet>} day
 * @returns {{ what: string, value: number, limit: number }[]}
 */
export function limitsOf(constants, sessions, day) {
  const aUser = sessions / given('users');
  const aSecond = day.peakMinute / 60;
  const processors = (aSecond * (constants.sessionMs + gatewayMs(constants))) / 1000;
  /** @type {[string, number, number][]} */
  const rows = [
    ['sessions that a user reviews in a day', aUser, given('reviews')],
    [
      'one machine submits all: memory of its commands, MB',
      day.peakRunning * constants.commandMb,
      given('userMemoryMb'),
    ],
    [
      'one machine submits all: a start reads its records, s',
      (sessions * given('keptDays') * constants.readMs) / 1000,
      given('readS'),
    ],
    [
      "each user's machine: memory of its commands, MB",
      (day.peakRunning / given('users')) * constants.commandMb,
      given('userMemoryMb'),
    ],
    [
      "each user's machine: a start reads its records, s",
      (aUser * given('keptDays') * constants.readMs) / 1000,
      given('readS'),
    ],
    [
      "each user's machine: records, GB",
      (aUser * given('keptDays') * recordBytes(constants)) / GB,
      given('userDiskGb'),
    ],
    ['bytes to the nodes in the peak hour, Mbit/s', (day.peakHourBytes * 8) / 3600 / 1e6, given('siteMbit')],
    ['sessions for a node, by its memory', day.peakOnNode + day.peakWaiting / given('nodes'), slotsOf(constants)],
    [
      'processors of all nodes at the peak',
      processors + day.peakRunning * given('agentProcessors'),
      given('nodes') * given('nodeProcessors'),
    ],
    ['bases and layers on a node, GB', (day.nodeBytes + layerBytes(sessions)) / GB, given('nodeDiskGb')],
    ['Docker: networks on the fullest node', day.peakOnNode, given('dockerNetworks')],
    [
      'Slurm: jobs that its controller keeps',
      day.peakRunning + day.peakWaiting + aSecond * given('slurmKeptS'),
      given('slurmJobs'),
    ],
    ['Kubernetes: pods on the fullest node', day.peakOnNode * given('podsOfSession'), given('podsOnNode')],
  ];
  return rows.map(([what, value, limit]) => ({ what, value, limit }));
}

/** The things of which a day needs more than there is, at rising numbers of sessions. @param {Constants} constants */
export function* reachedLimits(constants) {
  /** @type {Set<string>} */
  const reached = new Set();
  for (let sessions = 500; sessions <= 200_000; sessions = Math.round(sessions * 1.4)) {
    for (const one of limitsOf(constants, sessions, dayOf(constants, sessions, 'fewest'))) {
      if (one.value <= one.limit || reached.has(one.what)) continue;
      reached.add(one.what);
      yield { sessions, ...one };
    }
  }
}
