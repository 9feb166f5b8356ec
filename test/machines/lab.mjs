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
import { CELLS } from './cells.mjs';
import { CHECKS } from './checks.mjs';
import { prepareEngine, startEngine } from './engine.mjs';
import { placeHere, placeInside } from './places.mjs';

const RESULTS = path.join(import.meta.dirname, 'results');
const VERSIONS = `. /etc/os-release; echo "$PRETTY_NAME"; uname -srm
docker version --format 'Docker {{.Server.Version}}{{range .Server.Components}}, {{.Name}} {{.Version}}{{end}}' 2>/dev/null | grep -v '^Docker ,*$'
systemctl --quiet is-active podman.socket || systemctl --user --quiet is-active podman.socket && podman --version
true`;

/** @param {string} name */
async function runCell(name) {
  const cell = CELLS[name];
  if (cell === undefined) throw new Error(`No cell ${name}: ${Object.keys(CELLS).join(', ')}.`);
  const { machine, variables, enginePort } = await startEngine(cell);
  try {
    const place = cell.command === 'inside' ? placeInside(machine, cell, variables) : placeHere(cell, enginePort);
    const versions = machine.run([...variables.map((line) => `export ${line}`), VERSIONS].join('\n')).output;
    const checks = [];
    for (const check of CHECKS) {
      log(`${name}: ${check.name}`);
      const from = Date.now();
      const { held, detail } = await outcomeOf(() => check.run(place));
      if (!held) log(`${name}: ${check.name} FAILED: ${detail}`);
      checks.push({ name: check.name, held, seconds: Math.round((Date.now() - from) / 1000), detail });
      // After each check: what an interrupted run has seen stays.
      writeResult(name, cell, versions, checks);
    }
    return checks.every(({ held }) => held);
  } finally {
    await machine.stop();
  }
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
let failures = 0;
for (const name of names) {
  if (words.includes('--prepare')) {
    await prepareEngine(CELLS[name]?.engine ?? '');
    continue;
  }
  const { held, detail } = await outcomeOf(async () => ((await runCell(name)) ? '' : 'not every check held'));
  log(`${name}: ${held ? detail || 'every check held' : detail}`);
  if (!held || detail !== '') failures += 1;
}
process.exit(failures === 0 ? 0 : 1);
