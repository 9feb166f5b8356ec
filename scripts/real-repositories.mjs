// Runs a repository's own tests in run-claude's box and in a plain container of the same image, and compares them.
//   node scripts/real-repositories.mjs [OPTION…] ECOSYSTEM=URL-OR-PATH …
//   node scripts/real-repositories.mjs --table ROWS.jsonl
// The ecosystems are in ecosystems.json. The options hold for every repository of the call:
//   --packages A,B  Debian packages besides those of the ecosystem
//   --install CMD   --test CMD   instead of the ecosystem's
//   --folder DIR    where both are run, in the repository
//   --env NAME=VALUE             several
//   --with browser  --service FILE   a TOML file with [[service]] tables
//   --allow-address RANGE        where this network's registries have private addresses
//   --keep-images   leaves the image for another call with the same packages
//   --rows FILE     appends a row of JSON for each repository
//   --logs DIR      keeps both outputs
// Needs `npm run build`, git and Docker. Installs and tests run third-party code: in containers only.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { countTests } from './count-tests.mjs';

/** @typedef {{ packages?: string[], install?: string, test: string, env?: Record<string, string> }} Ecosystem */
/** @typedef {{ status: number, output: string, seconds: number, counts: import('./count-tests.mjs').Counts | undefined }} Run */

const main = path.join(path.dirname(import.meta.dirname), 'dist/main.js');
/** @type {Record<string, Ecosystem>} */
const ECOSYSTEMS = JSON.parse(readFileSync(path.join(import.meta.dirname, 'ecosystems.json'), 'utf8'));
const STATUS = 'exit status of the tests: ';
const MAX_OUTPUT_BYTES = 1 << 28;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    packages: { type: 'string', default: '' },
    install: { type: 'string' },
    test: { type: 'string' },
    folder: { type: 'string', default: '.' },
    env: { type: 'string', multiple: true, default: [] },
    with: { type: 'string' },
    service: { type: 'string' },
    'allow-address': { type: 'string' },
    'keep-images': { type: 'boolean', default: false },
    rows: { type: 'string' },
    logs: { type: 'string' },
    table: { type: 'string' },
  },
});

if (options.table !== undefined) {
  const rows = readFileSync(options.table, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  process.stdout.write(tableOf(rows));
} else {
  let differing = 0;
  for (const word of positionals) differing += compare(word).same ? 0 : 1;
  process.exitCode = differing === 0 ? 0 : 1;
}

/** Both runs of a repository, as a row of the table. @param {string} word */
function compare(word) {
  const [name = '', source] = /^([a-z]+)=(.+)$/.exec(word)?.slice(1) ?? [];
  const ecosystem = ECOSYSTEMS[name];
  if (ecosystem === undefined || source === undefined)
    throw new Error(`${word}: write ECOSYSTEM=URL-OR-PATH, with one of ${Object.keys(ECOSYSTEMS).join(', ')}`);
  const work = mkdtempSync(path.join(tmpdir(), 'run-claude-repositories-'));
  try {
    const project = path.join(work, 'project');
    execFileSync('git', ['clone', '--quiet', '--no-local', '--depth', '1', urlOf(source), project]);
    const commit = execFileSync('git', ['-C', project, 'rev-parse', '--short=10', 'HEAD'], { encoding: 'utf8' }).trim();
    const script = scriptOf(ecosystem);
    const images = imagesNow();
    const box = inTheBox(work, project, ecosystem, script);
    const plain = inPlain(project, box.image, ecosystem, script);
    const isMade = !images.includes(box.image);
    if (isMade && !options['keep-images']) spawnSync('docker', ['rmi', box.image], { stdio: 'ignore' });
    const repository =
      source
        .replace(/\/repo$/, '')
        .split('/')
        .at(-1)
        ?.replace('+', '/') ?? source;
    keepLogs(repository, { box, plain });
    const same = box.status === plain.status && JSON.stringify(box.counts) === JSON.stringify(plain.counts);
    const row = { repository, commit, ecosystem: name, box: numbersOf(box), plain: numbersOf(plain), same };
    process.stdout.write(`${JSON.stringify(row)}\n`);
    if (options.rows !== undefined) appendFileSync(options.rows, `${JSON.stringify(row)}\n`);
    return row;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** @param {string} source */
function urlOf(source) {
  return existsSync(source) ? `file://${path.resolve(source)}` : source;
}

/** Installs and tests; the last line has the status of the tests. @param {Ecosystem} ecosystem */
function scriptOf(ecosystem) {
  const install = options.install ?? ecosystem.install ?? 'true';
  const test = options.test ?? ecosystem.test;
  return `exec 2>&1 </dev/null; cd '${options.folder}'; (set -e; ${install}) && (${test}); status=$?; echo; echo "${STATUS}$status"`;
}

/** @param {Ecosystem} ecosystem @returns {Record<string, string>} */
function variablesOf(ecosystem) {
  const own = options.env.map(
    (one) => /** @type {[string, string]} */ ([one.split('=', 1)[0], one.slice(one.indexOf('=') + 1)]),
  );
  return { CI: 'true', ...ecosystem.env, ...Object.fromEntries(own) };
}

/**
 * A session of `run-claude exec` on the clone, with run-claude's own directories in `work`.
 * @param {string} work @param {string} project @param {Ecosystem} ecosystem @param {string} script
 * @returns {Run & { image: string }}
 */
function inTheBox(work, project, ecosystem, script) {
  const env = { ...process.env };
  for (const name of ['STATE', 'DATA', 'CACHE', 'CONFIG'])
    env[`XDG_${name}_HOME`] = path.join(work, name.toLowerCase());
  const packages = [...(ecosystem.packages ?? []), ...options.packages.split(',').filter((one) => one !== '')];
  const config = [
    ...(options['allow-address'] === undefined ? [] : [`allow-address = ["${options['allow-address']}"]`]),
    '[environment]',
    `packages = ${JSON.stringify(packages)}`,
    ...(options.with === undefined ? [] : [`with = ["${options.with}"]`]),
    ...(options.service === undefined ? [] : [readFileSync(options.service, 'utf8')]),
  ];
  mkdirSync(path.join(work, 'config/run-claude'), { recursive: true });
  writeFileSync(path.join(work, 'config/run-claude/config.toml'), `${config.join('\n')}\n`);
  const variables = Object.entries(variablesOf(ecosystem)).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const words = [main, 'exec', '--copy-workspace', '--yes', ...variables, '--', 'bash', '-c', script];
  const run = measured(process.execPath, words, { cwd: project, env });
  const sessions = path.join(work, 'state/run-claude/sessions');
  const [session = ''] = existsSync(sessions) ? readdirSync(sessions) : [];
  if (session === '') throw new Error(`the session did not start:\n${run.output}`);
  const { plan } = JSON.parse(readFileSync(path.join(sessions, session, 'session.json'), 'utf8'));
  spawnSync(process.execPath, [main, 'discard', session, '--yes'], { cwd: project, env, stdio: 'ignore' });
  return { ...run, image: plan.image };
}

/**
 * The same in a container with Docker's own network, profile and limits, as the same user. Registries are reached directly.
 * @param {string} project @param {string} image @param {Ecosystem} ecosystem @param {string} script
 * @returns {Run}
 */
function inPlain(project, image, ecosystem, script) {
  const ca = process.env['NODE_EXTRA_CA_CERTS'];
  const variables = {
    ...variablesOf(ecosystem),
    HOME: '/home/agent',
    USER: 'agent',
    LANG: 'C.UTF-8',
    PATH: '/home/agent/.local/bin:/usr/local/bin:/usr/bin:/bin:/usr/games',
    npm_config_prefix: '/home/agent/.local',
    npm_config_update_notifier: 'false',
    ...(ca === undefined ? {} : { NODE_EXTRA_CA_CERTS: '/ca.pem' }),
  };
  const words = Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const idle = ['--entrypoint', 'sleep', ...words, image, 'infinity'];
  const id = execFileSync('docker', ['run', '--detach', '--init', ...idle], { encoding: 'utf8' }).trim();
  const asRoot = (/** @type {string} */ text) => execFileSync('docker', ['exec', '--user', '0', id, 'sh', '-c', text]);
  try {
    if (ca !== undefined)
      execFileSync(
        'docker',
        ['cp', '--quiet', ca, `${id}:/ca.pem`].filter((one) => one !== '--quiet'),
      );
    asRoot('mkdir -p /home/agent /workspace');
    execFileSync('docker', ['cp', `${project}/.`, `${id}:/workspace`]);
    asRoot('chown -R 1000:1000 /workspace /home/agent');
    return measured('docker', ['exec', '--user', '1000:1000', '--workdir', '/workspace', id, 'bash', '-c', script], {});
  } finally {
    spawnSync('docker', ['rm', '--force', '--volumes', id], { stdio: 'ignore' });
  }
}

/** @param {string} program @param {string[]} words @param {import('node:child_process').SpawnSyncOptions} how @returns {Run} */
function measured(program, words, how) {
  const start = Date.now();
  const ran = spawnSync(program, words, { ...how, encoding: 'utf8', maxBuffer: MAX_OUTPUT_BYTES });
  const output = `${ran.stdout}\n${ran.stderr}`;
  const status = Number(new RegExp(`^${STATUS}(\\d+)$`, 'm').exec(output)?.[1] ?? Number.NaN);
  return { status, output, seconds: Math.round((Date.now() - start) / 1000), counts: countTests(ran.stdout) };
}

function imagesNow() {
  const words = ['images', '--format', '{{.Repository}}:{{.Tag}}', 'run-claude'];
  return execFileSync('docker', words, { encoding: 'utf8' }).trim().split('\n');
}

/** @param {Run} run */
function numbersOf({ counts, status, seconds }) {
  return { ...counts, status, seconds };
}

/** @param {string} repository @param {Record<string, Run>} runs */
function keepLogs(repository, runs) {
  if (options.logs === undefined) return;
  mkdirSync(options.logs, { recursive: true });
  for (const [where, { output }] of Object.entries(runs))
    writeFileSync(path.join(options.logs, `${repository.replaceAll('/', '+')}.${where}.log`), output);
}

/** The rows as a Markdown table. @param {readonly ReturnType<typeof compare>[]} rows */
function tableOf(rows) {
  const cell = (/** @type {ReturnType<typeof numbersOf>} */ { passed, failed, status }) =>
    passed === undefined ? `exit status ${status}` : `${passed} / ${failed}`;
  const lines = rows.map(
    ({ repository, commit, ecosystem, box, plain }) =>
      `| ${repository} | \`${commit}\` | ${ecosystem} | ${cell(box)} | ${cell(plain)} |`,
  );
  return ['| repository | commit | ecosystem | in the box | plain |', '|---|---|---|---|---|', ...lines, ''].join('\n');
}
