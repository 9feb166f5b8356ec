/** Where run-claude is installed for a cell: in the guest, or on this machine. */
import { spawnSync } from 'node:child_process';
import { openSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { packedCommand } from './build.mjs';
import { cacheDirectory, removeFromCache, sh } from './cache.mjs';
import { runOnTerminal } from './terminal.mjs';

/**
 * User Mode Linux has one table of system calls: it takes a call of 32 bits (`int $0x80`) as the one of 64 bits that has
 * this number, with the same filter. Number 102 gives the caller's uid there, and elsewhere what a socket call gives.
 */
const THROUGH_UML = ['int80-20', 'int80-102', 'int80-310'];
const RUN_LIMIT_MS = 10 * 60_000;
const SEED = `git init -q; git config user.email dev@guest; git config user.name dev
for i in $(seq 50); do echo "$i" >"file-$i"; done; git add -A; git commit -qm seed`;

/**
 * run-claude installed in the guest, for its user.
 * @param {Awaited<ReturnType<typeof import('./machine.mjs').startMachine>>} machine
 * @param {import('./cells.mjs').Cell} cell
 * @param {readonly string[]} variables
 * @returns {import('./checks.mjs').Place}
 */
export function placeInside(machine, cell, variables) {
  const must = (/** @type {string} */ script, options = {}) => {
    const { status, output } = machine.run(script, options);
    if (status !== 0) throw new Error(`${script}: ${output.slice(-2_000)}`);
  };
  const install = `set -e; install -m 755 /mnt/supplies/node /usr/local/bin/node
mkdir -p /opt/run-claude && tar -xzf - -C /opt/run-claude --strip-components=1
printf '#!/bin/sh\\nexec node /opt/run-claude/dist/main.js "$@"\\n' >/usr/local/bin/run-claude
chmod 755 /usr/local/bin/run-claude`;
  must(install, { user: 'root', input: openSync(packedCommand(), 'r') });
  // The image's address has the certificate authorities of the machine.
  must('cp /mnt/supplies/ca/*.crt /usr/local/share/ca-certificates/ 2>/dev/null || true', { user: 'root' });
  if (cell.asRoot !== undefined) must(`set -e\n${cell.asRoot}`, { user: 'root' });
  must(`set -e; mkdir -p ${cell.project}; cd ${cell.project}; ${SEED}`);
  const before = [...variables.map((line) => `export ${line}`), `cd ${cell.project}`, ''].join('\n');
  return {
    isRemote: false,
    ofKernel: THROUGH_UML,
    run: (script, options = {}) => machine.run(before + script, options),
    talk: (script, answers) => runOnTerminal(machine.onTerminal(before + script), answers),
  };
}

/**
 * run-claude here, the engine in the guest: what it stores is in the cell's own directory.
 * @param {import('./cells.mjs').Cell} cell
 * @param {number} enginePort
 * @returns {import('./checks.mjs').Place}
 */
export function placeHere(cell, enginePort) {
  const id = `cell-${cell.engine}`;
  removeFromCache(id);
  const dir = cacheDirectory(id);
  const project = cacheDirectory(id, cell.project);
  const before = `export HOME=${dir} TMPDIR=${cacheDirectory(id, 'tmp')} DOCKER_HOST=tcp://127.0.0.1:${enginePort}
export PATH=${cacheDirectory(id, 'bin')}:$PATH
unset XDG_STATE_HOME XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME DOCKER_CONTEXT NODE_EXTRA_CA_CERTS
cd ${project}
`;
  // A copy: another build must not replace modules that a running command still loads.
  const installed = cacheDirectory(id, 'run-claude');
  sh('tar -xzf "$1" -C "$2" --strip-components=1', [packedCommand(), installed]);
  // A program, not a function of the shell: the check of a crash kills it.
  const program = path.join(dir, 'bin/run-claude');
  writeFileSync(program, `#!/bin/sh\nexec node ${installed}/dist/main.js "$@"\n`, { mode: 0o755 });
  sh(`cd "$1"; ${SEED}`, [project]);
  return {
    isRemote: true,
    ofKernel: [],
    run: (script, { timeoutMs = RUN_LIMIT_MS } = {}) => {
      const { status, stdout, stderr } = spawnSync('bash', ['-c', before + script], {
        encoding: 'utf8',
        timeout: timeoutMs,
      });
      return { status, output: `${stdout}${stderr}` };
    },
    talk: (script, answers) => {
      const file = path.join(dir, 'on-terminal.sh');
      writeFileSync(file, `stty cols 100 rows 40\n${before}${script}\n`);
      return runOnTerminal(['script', '-qefc', `bash ${file}`, '/dev/null'], answers);
    },
  };
}
