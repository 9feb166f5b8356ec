/** What every cell does. A check throws, or gives one line that says what was seen. */

/**
 * @typedef {object} Place where run-claude runs
 * @property {readonly string[]} ofKernel attacks that a kernel of this kind lets through, whatever the engine does
 * @property {boolean} isRemote the engine does not see the project's directory
 * @property {(script: string, options?: { timeoutMs?: number }) => import('./machine.mjs').Result} run
 *   runs a shell script in the project's directory
 * @property {(script: string, answers: readonly (readonly [RegExp, string])[]) => Promise<import('./machine.mjs').Result>} talk
 *   the same on a terminal
 */

/**
 * @typedef {object} Check
 * @property {string} name
 * @property {(place: Place) => string | Promise<string>} run
 */

const LAST_LINES = 30;
const PROBE_LIMIT_MS = 30 * 60_000;
const BUILD_LIMIT_MS = 60 * 60_000;
const OPTIONS = '--credentials none --yes';
const QUESTION = /Apply changes to [^\n]*\? \[y[^\]]*\]/;

/** A commit, an edit, a new file, and a hook that must not come back. */
const WORK = [
  'echo edited >>file-1; echo new >added; git commit -qam inside',
  'printf "#!/bin/sh\\ntouch /tmp/ran\\n" >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit',
].join('; ');

/** A command that is killed while its agent works, and what the next command makes of it. */
const CRASH = `
run-claude exec ${OPTIONS} -- sh -c 'echo kept >crashed; echo ready; sleep 3000' >"$HOME/crash.log" 2>&1 & command=$!
for _ in $(seq 300); do grep -q '^ready' "$HOME/crash.log" && break; kill -0 $command || break; sleep 1; done
kill -9 $command; wait $command
run-claude diff --name-only; cat "$HOME/crash.log"`;

/** A service on the session's image: a guest has no network to install a package from. Its seed makes what it serves. */
const SERVICE = `
settings="$HOME/.config/run-claude/config.toml"; mkdir -p "\${settings%/*}"
cat >"$settings" <<'END'
[[service]]
name = "web"
command = "exec python3 -u -m http.server --bind 127.0.0.1 --directory /data 8000"
port = 8000
seed = "echo seeded >/data/page"
END
run-claude exec ${OPTIONS} --network none -- sh -c 'curl -sS http://web:8000/page http://127.0.0.1:8000/page'
status=$?; rm "$settings"; exit $status`;

/** @param {string} output */
function lastLines(output) {
  return output.trim().split('\n').slice(-LAST_LINES).join('\n');
}

/**
 * @param {import('./machine.mjs').Result} result
 * @param {number} [status]
 */
function expectStatus(result, status = 0) {
  if (result.status === status) return result.output;
  throw new Error(`status ${result.status} instead of ${status}:\n${lastLines(result.output)}`);
}

/**
 * @param {string} output
 * @param {RegExp} pattern
 */
function expectText(output, pattern) {
  if (!pattern.test(output)) throw new Error(`no ${pattern} in:\n${lastLines(output)}`);
}

/** @type {readonly Check[]} */
export const CHECKS = [
  {
    name: 'doctor',
    run: ({ run }) => {
      const output = expectStatus(run('run-claude doctor'));
      expectText(output, /Ready/);
      return output
        .split('\n')
        .filter((line) =>
          /(Container engine|Kind of engine|Protection|Kernel|File sharing|Copy strategy) {2}/.test(line),
        )
        .map((line) => line.replace(/^(ok|warning) +/, '').replaceAll(/ {2,}/g, ': '))
        .join('; ');
    },
  },
  {
    name: 'image',
    run: ({ run }) =>
      expectStatus(run('run-claude build', { timeoutMs: BUILD_LIMIT_MS }))
        .trim()
        .split('\n')
        .at(-1) ?? '',
  },
  {
    name: 'probe',
    run: ({ run, ofKernel }) => {
      const { output } = run('run-claude doctor --probe --verbose', { timeoutMs: PROBE_LIMIT_MS });
      const through = [...output.matchAll(/^ +FAIL +(\S+)/gm)].map(([, attack = '']) => attack);
      const unexpected = through.filter((attack) => !ofKernel.includes(attack));
      if (unexpected.length > 0) throw new Error(`got through: ${unexpected.join(', ')}`);
      expectText(output, /^\d+ attacks: /m);
      const untested = [...output.matchAll(/^ *not testable +(\S+)/gm)].map(([, attack]) => attack);
      const summary = /^\d+ attacks: .*$/m.exec(output)?.[0] ?? '';
      const known = through.length === 0 ? [] : [`The kernel of the machine lets through: ${through.join(', ')}.`];
      return [summary, `Not testable: ${untested.join(', ')}.`, ...known].join(' ');
    },
  },
  {
    name: 'copy session, review, apply, undo',
    run: async ({ run, talk }) => {
      const { output } = await talk(`run-claude exec ${OPTIONS} -- sh -c '${WORK}'`, [[QUESTION, 'y\r']]);
      expectText(output, /WARNING: New git hook detected: .git\/hooks\/pre-commit \(BLOCKED/);
      expectText(output, /Applied 2 of 2 files/);
      expectStatus(run('grep -q edited file-1 && test -f added && test ! -e .git/hooks/pre-commit'));
      expectStatus(run('run-claude undo --yes'));
      expectStatus(run('! grep -q edited file-1 && test ! -e added && test -z "$(git status --porcelain)"'));
      return 'the edit was applied and undone, the planted hook was blocked';
    },
  },
  {
    name: 'bind session',
    run: ({ run, isRemote }) => {
      const result = run(`run-claude exec --bind ${OPTIONS} -- sh -c 'echo bound >bound'`);
      if (isRemote) {
        if (result.status === 0) throw new Error('bind mode was not refused');
        return `refused: ${/ERROR(?: [A-Z_]+)?: (.*)/.exec(result.output)?.[1] ?? lastLines(result.output)}`;
      }
      expectStatus(result);
      expectStatus(run('test "$(cat bound)" = bound && test "$(stat -c %u bound)" = "$(id -u)" && rm bound'));
      return 'the file is in the project and belongs to the user';
    },
  },
  {
    name: 'exec',
    run: ({ run }) => {
      const output = expectStatus(run(`run-claude exec ${OPTIONS} -- sh -c 'id -u; uname -m; exit 7'`), 7);
      expectText(output, /^(aarch64|x86_64)$/m);
      return 'output and exit status are those of the program';
    },
  },
  {
    name: 'service',
    run: ({ run }) => {
      const { output } = run(SERVICE);
      expectText(output, /^seeded\nseeded$/m);
      return 'the agent reached it by its name and at 127.0.0.1, with what its seed made';
    },
  },
  {
    name: 'crash of the command, recovery',
    run: ({ run }) => {
      const { output } = run(CRASH);
      expectText(output, /was cut off/);
      expectText(output, /^crashed$/m);
      expectStatus(run('run-claude apply --yes && test "$(cat crashed)" = kept && rm crashed'));
      return 'the changes of a killed command were collected and applied';
    },
  },
  {
    name: 'gc',
    run: ({ run }) => {
      expectStatus(run('run-claude gc'));
      return 'done';
    },
  },
];
