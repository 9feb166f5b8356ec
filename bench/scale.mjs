// node bench/scale.mjs: the model of docs/explanation/scale.md. Predicts from RUN_CLAUDE_BENCH_SINGLES (5) sessions how
// long `batch` takes for RUN_CLAUDE_BENCH_TASKS (50) tasks, and runs these batches (part queue). Measures the constants of
// a fleet, and simulates it (part fleet). RUN_CLAUDE_BENCH_PARTS=queue,fleet chooses. With RUN_CLAUDE_BENCH_CONSTANTS=FILE
// the constants are read from FILE, or written to it where it does not exist. Needs Docker on Linux and a quiet machine.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import {
  dayOf,
  GIVEN,
  gatewayMs,
  given,
  layerBytes,
  limitsOf,
  reachedLimits,
  recordBytes,
  SHAPE,
  slotsOf,
} from './scale-given.mjs';
import {
  askingScene,
  batchOverhead,
  compressed,
  gatewayCost,
  perRecordMs,
  realBatch,
  run,
  storePerSession,
  watchSession,
  wireBytes,
} from './scale-measure.mjs';
import { simulateQueue } from './scale-model.mjs';
import { otherWork, QUIET_SHARE } from './scale-watch.mjs';
import { median } from './session.mjs';

/** @typedef {import('./scale-given.mjs').Constants} Constants */
/** @typedef {Awaited<ReturnType<typeof watchSession>>} Single */

const TASKS = Number(process.env['RUN_CLAUDE_BENCH_TASKS'] ?? 50);
const SINGLES = Number(process.env['RUN_CLAUDE_BENCH_SINGLES'] ?? 5);
const PARTS = (process.env['RUN_CLAUDE_BENCH_PARTS'] ?? 'queue,fleet').split(',');
const KEPT = process.env['RUN_CLAUDE_BENCH_CONSTANTS'];
const PROCESSORS = availableParallelism();
const GB = 2 ** 30;

/** @param {string} text */
const line = (text) => void process.stdout.write(`${text}\n`);
/** @param {string[]} head @param {string[][]} rows */
function table(head, rows) {
  line(`\n| ${head.join(' | ')} |\n|---|${'---:|'.repeat(head.length - 1)}`);
  for (const row of rows) line(`| ${row.join(' | ')} |`);
  line('');
}
/** @param {number} value */
function short(value) {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US');
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
/** @param {Single[]} singles @param {(one: Single) => number} of */
const middle = (singles, of) => median(singles.map(of));
/** @param {Single[]} singles @param {string} role @param {'cpuMs' | 'peakMb'} what */
const ofRole = (singles, role, what) => middle(singles, ({ parts }) => parts[role]?.[what] ?? 0);

/** @param {Awaited<ReturnType<typeof askingScene>>} scene @param {number} other */
async function measureSingles(scene, other) {
  /** @type {Single[]} */
  const singles = [];
  for (let at = 0; at < SINGLES; at += 1)
    singles.push(await watchSession(scene, ['--yes', '-p', `task ${at} alone`], other));
  const roles = ['command', 'daemon', 'agent', 'gateway', 'collector'];
  table(
    [`a session alone, median of ${SINGLES}`, 'processor time, ms', 'memory, MB'],
    [
      ...roles.map((role) => [
        role,
        short(ofRole(singles, role, 'cpuMs')),
        role === 'daemon' ? '' : short(ofRole(singles, role, 'peakMb')),
      ]),
      ['all of these', short(middle(singles, ({ cpuMs }) => cpuMs)), ''],
      ['the machine, without other work', short(middle(singles, ({ machineMs }) => machineMs)), ''],
      ['elapsed', short(middle(singles, ({ ms }) => ms)), ''],
    ],
  );
  return singles;
}

/** @param {Awaited<ReturnType<typeof askingScene>>} scene @param {Single[]} singles */
async function compareQueues(scene, singles) {
  const overhead = await batchOverhead(scene);
  const profiles = singles.map(({ profile }) => profile);
  /** @type {string[][]} */
  const rows = [];
  for (const jobs of [1, 2]) {
    const predicted = overhead + simulateQueue(profiles, { tasks: TASKS, jobs, processors: PROCESSORS }).ms;
    const measured = await realBatch(scene, { tasks: TASKS, jobs });
    rows.push([`--jobs ${jobs}`, short(predicted / 1000), short(measured / 1000), short(measured / predicted)]);
  }
  line(`the batch command itself: ${overhead.toFixed(0)} ms`);
  table([`batch of ${TASKS} tasks`, 'predicted, s', 'measured, s', 'measured / predicted'], rows);
}

/**
 * @param {Awaited<ReturnType<typeof askingScene>>} scene
 * @param {{ singles: Single[], other: number, isQuiet: boolean }} machine @returns {Promise<Constants>}
 */
async function measureConstants(scene, { singles, other, isQuiet }) {
  const wire = await wireBytes();
  const gateway = await gatewayCost(scene, other);
  const storedBytes = await storePerSession(scene);
  const record = await perRecordMs(scene);
  return {
    sessionMs: middle(singles, ({ cpuMs, machineMs }) => (isQuiet ? machineMs : cpuMs)),
    commandMb: ofRole(singles, 'command', 'peakMb'),
    gatewayMb: ofRole(singles, 'gateway', 'peakMb'),
    collectorMb: ofRole(singles, 'collector', 'peakMb'),
    wirePerByte: wire.base / wire.treeBytes,
    gzip: compressed(),
    fixedTo: wire.fixedTo,
    fixedFrom: wire.fixedFrom,
    perEdit: wire.perEdit,
    perWritten: wire.perWritten,
    storedBytes,
    listMs: record.listed,
    readMs: record.read,
    gatewayIdleMs: gateway.idleMs,
    gatewayRequestMs: gateway.perRequestMs,
    gatewayMbMs: gateway.perMbMs,
  };
}

/** @param {Constants} constants */
function printConstants(constants) {
  const { fixedTo, fixedFrom } = constants;
  table(
    ['measured', 'value'],
    [
      ['processor time of a session that sends one request, ms', short(constants.sessionMs)],
      [
        'memory of command, gateway, collector, MB',
        [constants.commandMb, constants.gatewayMb, constants.collectorMb].map(short).join(', '),
      ],
      ['bytes to the engine for a byte of a base, before compression', short(constants.wirePerByte)],
      ["gzip -1 leaves of this repository's files", short(constants.gzip)],
      [
        'a start where nothing changed, to and from the engine, KB',
        `${short(fixedTo / 1024)}, ${short(fixedFrom / 1024)}`,
      ],
      ['an edited file of 4,000 bytes, to the engine, bytes', short(constants.perEdit)],
      ['a changed file of 4,000 bytes, from the engine, bytes', short(constants.perWritten)],
      ['what a session with two small changes leaves on the disk, KB', short(constants.storedBytes / 1024)],
      ['`sessions`, for each record, ms', short(constants.listMs)],
      ['every start, for each record, ms', short(constants.readMs)],
      ['gateway: processor time without requests, ms', short(constants.gatewayIdleMs)],
      ['gateway: processor time a request, ms', short(constants.gatewayRequestMs)],
      ['gateway: processor time a MB of requests, ms', short(constants.gatewayMbMs)],
    ],
  );
  const rows = Object.values(GIVEN).map(({ value, unit, source }) => [unit, String(value), source]);
  table(['given', 'value', 'source'], [...rows, ["weights of a day's hours", SHAPE.join(' '), 'assumed']]);
}

/** @param {Constants} constants */
function printFleet(constants) {
  const asked = 10_000;
  const days = [dayOf(constants, asked, 'fewest'), dayOf(constants, asked, 'warm')];
  /** @typedef {typeof days[number]} Day */
  /** @type {[string, (day: Day) => number][]} */
  const rows = [
    ['starts that send a whole base', ({ whole }) => whole],
    ['bytes of bases, GB', ({ baseBytes }) => baseBytes / GB],
    ['bytes of differences, GB', ({ differenceBytes }) => differenceBytes / GB],
    ['bytes that every start sends, GB', ({ fixedBytes }) => fixedBytes / GB],
    [
      'bytes that come back, GB',
      ({ sessions }) => (sessions * (constants.fixedFrom + given('changedFiles') * constants.perWritten)) / GB,
    ],
    ['peak hour, to the nodes, Mbit/s', ({ peakHourBytes }) => (peakHourBytes * 8) / 3600 / 1e6],
    ['bases on the fullest node, GB', ({ nodeBytes }) => nodeBytes / GB],
    ['layers that are not decided yet, on a node, GB', ({ sessions }) => layerBytes(sessions) / GB],
    ['sessions at once, at the peak', ({ peakRunning }) => peakRunning],
    ['of them on the fullest node', ({ peakOnNode }) => peakOnNode],
    ['submits in the fullest second', ({ peakSubmits }) => peakSubmits],
    ['submits in the fullest minute', ({ peakMinute }) => peakMinute],
    ['sessions that wait for a node, at the peak', ({ peakWaiting }) => peakWaiting],
    [
      'gateways: processors at the peak, all nodes',
      ({ peakMinute }) => ((peakMinute / 60) * gatewayMs(constants)) / 1000,
    ],
    ['gateways: memory at the peak, all nodes, GB', ({ peakRunning }) => (peakRunning * constants.gatewayMb) / 1024],
    [
      'requests to the model in a second, at the peak',
      ({ peakRunning, meanLengthS }) => (peakRunning * given('requests')) / meanLengthS,
    ],
    [
      'records of 30 days, all users, GB',
      ({ sessions }) => (sessions * given('keptDays') * recordBytes(constants)) / GB,
    ],
  ];
  table(
    [
      `${asked.toLocaleString('en-US')} sessions a day, at most ${slotsOf(constants)} on a node`,
      'node with the fewest sessions',
      'node that has the base',
    ],
    rows.map(([what, of]) => [what, ...days.map((day) => short(of(day)))]),
  );
  const levels = [10_000, 20_000, 50_000, 100_000];
  const byLevel = levels.map((sessions) => limitsOf(constants, sessions, dayOf(constants, sessions, 'fewest')));
  table(
    ['share of the limit', 'limit', ...levels.map((level) => level.toLocaleString('en-US'))],
    (byLevel[0] ?? []).map(({ what, limit }, at) => [
      what,
      limit.toLocaleString('en-US'),
      ...byLevel.map((limits) => `${short((100 * (limits[at]?.value ?? 0)) / limit)} %`),
    ]),
  );
  const order = [...reachedLimits(constants)];
  table(
    ['limits in the order in which they are reached', 'sessions a day', 'needed', 'limit'],
    order.map(({ what, sessions, value, limit }) => [what, short(sessions), short(value), short(limit)]),
  );
}

const isKept = KEPT !== undefined && existsSync(KEPT);
/** @type {Constants | undefined} */
let constants = isKept ? JSON.parse(readFileSync(KEPT, 'utf8')) : undefined;
if (PARTS.includes('queue') || constants === undefined) {
  const other = await otherWork();
  const isQuiet = other < QUIET_SHARE * PROCESSORS;
  const how = isQuiet ? 'a session is what the machine does beyond it' : 'NOT QUIET: a session is the sum of its parts';
  line(`${PROCESSORS} processors; other work uses ${other.toFixed(2)} of them: ${how}`);
  const scene = await askingScene();
  try {
    await run(scene, ['--yes', '-p', 'warm up']);
    const singles = await measureSingles(scene, other);
    if (PARTS.includes('queue')) await compareQueues(scene, singles);
    if (PARTS.includes('fleet')) constants ??= await measureConstants(scene, { singles, other, isQuiet });
  } finally {
    scene.close();
  }
}
if (PARTS.includes('fleet') && constants !== undefined) {
  if (KEPT !== undefined && !isKept) writeFileSync(KEPT, `${JSON.stringify(constants, undefined, 2)}\n`);
  printConstants(constants);
  printFleet(constants);
}
