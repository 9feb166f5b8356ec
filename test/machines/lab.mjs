#!/usr/bin/env node
/**
 * Runs run-claude on machines of other kinds, each a guest without hardware virtualisation:
 *   npm run test:machines [-- CELL…]      all cells without names; `--list` names them, `--prepare` only makes their disks
 * Needs root on Debian. Guests and engines are kept in the cache directory, by the digest of their recipes: a cell that
 * was interrupted continues there. Writes test/machines/results/CELL.json.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { log } from './cache.mjs';
import { CELLS, CLUSTER } from './cells.mjs';
import { CHECKS } from './checks.mjs';
import { prepareCluster, startCluster } from './cluster.mjs';
import { CLUSTER_CHECKS } from './cluster-checks.mjs';
import { prepareEngine, startEngine } from './engine.mjs';
import { placeHere, placeInside } from './places.mjs';

const RESULTS = path.join(import.meta.dirname, 'results');
const VERSIONS = `. /etc/os-release; echo "$PRETTY_NAME"; uname -srm
docker version --format 'Docker {{.Server.Version}}{{range .Server.Components}}, {{.Name}} {{.Version}}{{end}}' 2>/dev/null | grep -v '^Docker ,*$'
{ systemctl --quiet is-active podman.socket || systemctl --user --quiet is-active podman.socket; } 2>/dev/null && podman --version
true`;

const CLUSTER_VERSIONS = `. /etc/os-release; echo "$PRETTY_NAME"; uname -srm
slurmd --version; runc --version | sed -n 's/^runc version /runc /p'; dpkg-query -W crun | sed 's/\\t/ /'`;

/** @param {string} name */
function cellOf(name) {
  const cell = CELLS[name];
  if (cell === undefined) throw new Error(`No cell ${name}: ${Object.keys(CELLS).join(', ')}.`);
  return cell;
}

/**
 * Runs cells of one engine, one after the other in one guest: its start takes a third of a cell's time.
 * @param {readonly string[]} cells their names
 * @returns {Promise<string>} what did not hold
 */
async function runCells(cells) {
  if (cells.every((name) => cellOf(name).engine === CLUSTER)) return runCluster(cells[0] ?? '');
  const started = await startEngine(cells.map(cellOf));
  const failures = [];
  try {
    for (const name of cells) {
      const { held, detail } = await outcomeOf(() => runChecks(name, started));
      if (!held) log(`${name} did not reach its checks: ${detail}`);
      failures.push(detail);
    }
  } finally {
    await started.machine.stop();
  }
  return failures.filter((text) => text !== '').join('; ');
}

/** @param {string} name @returns {Promise<string>} the checks that did not hold */
async function runCluster(name) {
  const cluster = await startCluster();
  try {
    const versions = cluster.on('node1', CLUSTER_VERSIONS).output;
    return await checkAll(name, versions, CLUSTER_CHECKS, cluster);
  } finally {
    await cluster.stop();
  }
}

/**
 * @param {string} name
 * @param {Awaited<ReturnType<typeof startEngine>>} started
 * @returns {Promise<string>} the checks that did not hold
 */
async function runChecks(name, { machine, variables, enginePort }) {
  const cell = cellOf(name);
  const place = cell.command === 'inside' ? placeInside(machine, cell, variables) : placeHere(cell, enginePort);
  const versions = machine.run([...variables.map((line) => `export ${line}`), VERSIONS].join('\n')).output;
  return checkAll(name, versions, CHECKS, place);
}

/**
 * @template Subject
 * @param {string} name of the cell
 * @param {string} versions
 * @param {readonly { readonly name: string, readonly run: (subject: Subject) => string | Promise<string> }[]} all
 * @param {Subject} subject
 * @returns {Promise<string>} the checks that did not hold
 */
async function checkAll(name, versions, all, subject) {
  const cell = cellOf(name);
  const checks = [];
  for (const check of all) {
    log(`${name}: ${check.name}`);
    const from = Date.now();
    const { held, detail } = await outcomeOf(() => check.run(subject));
    if (!held) log(`${name}: ${check.name} FAILED: ${detail}`);
    checks.push({ name: check.name, held, seconds: Math.round((Date.now() - from) / 1000), detail });
    // After each check: what an interrupted run has seen stays.
    writeResult(name, cell, versions, checks);
  }
  return checks
    .filter(({ held }) => !held)
    .map((check) => `${name}: ${check.name}`)
    .join('; ');
}

/**
 * @param {string} name
 * @param {import('./cells.mjs').Cell} cell
 * @param {string} versions
 * @param {readonly object[]} checks
 */
function writeResult(name, { title, represents }, versions, checks) {
  const date = new Date().toISOString().slice(0, 10);
  const result = { cell: name, title, represents, date, versions: versions.trim().split('\n'), checks };
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(path.join(RESULTS, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
}

/** @param {() => string | Promise<string>} run */
async function outcomeOf(run) {
  try {
    return { held: true, detail: await run() };
  } catch (error) {
    return { held: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

const words = process.argv.slice(2);
const named = words.filter((word) => !word.startsWith('--'));
const names = named.length === 0 ? Object.keys(CELLS) : named;
if (words.includes('--list')) {
  for (const [name, { title }] of Object.entries(CELLS)) console.log(`${name.padEnd(22)}${title}`);
  process.exit(0);
}
const engines = new Set(names.map((name) => cellOf(name).engine));
let failures = 0;
for (const engine of engines) {
  if (words.includes('--prepare')) {
    await (engine === CLUSTER ? prepareCluster() : prepareEngine(engine));
    continue;
  }
  const cells = names.filter((name) => cellOf(name).engine === engine);
  const { held, detail } = await outcomeOf(() => runCells(cells));
  log(`${cells.join(', ')}: ${held ? detail || 'every check held' : detail}`);
  if (!held || detail !== '') failures += 1;
}
process.exit(failures === 0 ? 0 : 1);
