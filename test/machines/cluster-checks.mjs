/** What is checked on a cluster of Slurm. A check throws, or gives one line that says what was seen. */
import { setTimeout as sleep } from 'node:timers/promises';
import { NODES, SCRATCH, SHARED } from './cluster-settings.mjs';

/**
 * @typedef {object} ClusterCheck
 * @property {string} name
 * @property {(cluster: import('./cluster.mjs').Cluster) => string | Promise<string>} run
 */

const SECRET = 'sk-ant-api03-of-the-stand-in-for-the-lab';
/** Does not match itself in the arguments of a search. */
const PATTERN = `[s]${SECRET.slice(1)}`;
const LAST_LINES = 30;
const PORT = 18080;
const WAIT_MS = 10 * 60_000;
/** Allocates more than the job has, and keeps it in use. */
const TOO_MUCH = 'python3 -c "a = bytearray(3200 << 20); print(len(a))"';
const TURNS = JSON.stringify([
  { tools: [{ name: 'Bash', input: { command: 'echo by-agent > made.txt' } }] },
  { text: 'Done.' },
]);
/** The provider is on loopback of the login node: no node reaches it. */
const PROVIDER = `export ANTHROPIC_BASE_URL=http://127.0.0.1:${PORT} ANTHROPIC_API_KEY=${SECRET}`;

/** @param {string} output */
const lastLines = (output) => output.trim().split('\n').slice(-LAST_LINES).join('\n');

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
  const found = pattern.exec(output);
  if (found === null) throw new Error(`no ${pattern} in:\n${lastLines(output)}`);
  return found[0];
}

/**
 * A session whose agent has written the file `name` and waits; gives its job.
 * @param {import('./cluster.mjs').Cluster} cluster
 * @param {string} partition
 * @param {string} name
 */
function startWaiting({ login }, partition, name) {
  const output = expectStatus(
    login(`${PROVIDER}
{ run-claude exec --on slurm:${partition} --yes . -- sh -c 'echo of ${name} >${name}; rm -f file-1; echo WRITTEN; sleep 1200'; echo "status $?"; } >~/${name}.log 2>&1 & echo $! >~/${name}.pid
for _ in $(seq 400); do grep -q ^WRITTEN ~/${name}.log && break; sleep 1; done
cat ~/${name}.log; grep -q ^WRITTEN ~/${name}.log`),
  );
  const [, job = ''] = /Job (\d+) of slurm/.exec(output) ?? [];
  const [, node = ''] = /runs on (\S+)/.exec(output) ?? [];
  return { job, node };
}

/**
 * The output of such a session, when it has ended.
 * @param {import('./cluster.mjs').Cluster} cluster
 * @param {string} name
 */
async function untilEnd({ login }, name) {
  for (const since = Date.now(); Date.now() - since < WAIT_MS; await sleep(2_000)) {
    const { output } = login(`cat ~/${name}.log`);
    if (/^status \d+$/m.test(output)) return output;
  }
  throw new Error('the command does not end');
}

/** @param {import('./cluster.mjs').Cluster} cluster */
async function untilNoJob({ login }) {
  for (const since = Date.now(); Date.now() - since < WAIT_MS; await sleep(2_000))
    if (login('squeue -h').output.trim() === '') return;
  throw new Error('a job does not end');
}

/** @param {import('./cluster.mjs').Cluster} cluster @param {string} partition */
function probe({ login }, partition) {
  const { output } = login(`run-claude doctor --probe --verbose --on slurm:${partition}`);
  const through = [...output.matchAll(/^ +FAIL +(\S+)/gm)].map(([, attack = '']) => attack);
  if (through.length > 0) throw new Error(`got through: ${through.join(', ')}`);
  const summary = expectText(output, /^\d+ attacks: .*$/m);
  const untested = [...output.matchAll(/^ *not testable +(\S+)/gm)].map(([, attack]) => attack);
  return `${summary} Not testable: ${untested.join(', ')}.`;
}

/** @type {readonly ClusterCheck[]} */
export const CLUSTER_CHECKS = [
  {
    name: 'nodes',
    run: ({ login, on }) => {
      expectStatus(login('test "$(sinfo -h -p short -t idle -o %D)" = 2'));
      for (const { name, runtime, removed } of NODES)
        expectStatus(
          on(
            name,
            `test "$(hostname)" = ${name} && test "$(stat -fc %T /sys/fs/cgroup)" = cgroup2fs &&
findmnt -t nfs4 /shared && test -n "$(swapon --show)" && command -v ${runtime} && ! command -v ${removed} && ! touch /shared/dev/x`,
          ),
        );
      return 'two nodes are idle, with cgroup v2, swap and a shared directory on NFS 4.2 where root has no rights; node1 has runc alone, node2 crun alone';
    },
  },
  {
    name: 'session of an agent, apply',
    run: async (cluster) => {
      const { output } = cluster.login(`${PROVIDER}
printf '%s' '${TURNS}' >~/turns.json
node /mnt/supplies/messages-api.mjs --script ~/turns.json --port ${PORT} < <(exec sleep 1000 2>/dev/null) >/dev/null 2>&1 & server=$!
sleep 2
run-claude --on slurm:node1 --yes -p go; status=$?
kill $server; exit $status`);
      expectText(output, /1 file created/);
      if (output.includes('slurmstepd')) throw new Error(`Slurm has a message for the user:\n${lastLines(output)}`);
      expectStatus(cluster.login('run-claude apply --yes && test "$(cat made.txt)" = by-agent && rm made.txt'));
      await untilNoJob(cluster);
      return 'the agent reached the provider on loopback of the login node through the attached stream; its change was applied';
    },
  },
  {
    name: 'memory and swap',
    run: async (cluster) => {
      const { job, node } = startWaiting(cluster, 'short', 'limits.txt');
      const groups = `cd "$(find /sys/fs/cgroup -type d -name job_${job})" && cat memory.max memory.swap.max`;
      const [memory, swap] = expectStatus(cluster.on(node, groups)).trim().split('\n');
      if (memory !== String(2560 * 2 ** 20) || swap !== '0') throw new Error(`memory ${memory}, swap ${swap}`);
      cluster.login(`scancel ${job}`);
      await untilEnd(cluster, 'limits.txt');
      await untilNoJob(cluster);
      const killed = cluster.login(
        `run-claude exec --on slurm:node1 --credentials none --yes . -- sh -c '${TOO_MUCH}'`,
      );
      if (killed.status === 0 || /^3355443200$/m.test(killed.output)) throw new Error(lastLines(killed.output));
      const kernel = expectStatus(cluster.on('node1', 'dmesg | grep oom-kill'));
      expectText(kernel, /task_memcg=\/system\.slice\/\w*slurmstepd\.scope\/job_\d+\/.*task=python3/);
      await untilNoJob(cluster);
      const told = /^\[sandbox\] (ERROR|WARNING).*$/m.exec(killed.output)?.[0] ?? '';
      return `no layer but gateway-network was given up; memory.max is 2560 MB, memory.swap.max 0; a program that took 3.1 GB was killed in the job's group, and the command ended with status ${killed.status} ${told}`.trim();
    },
  },
  {
    name: 'search for the credential, scancel',
    run: async (cluster) => {
      const { job, node } = startWaiting(cluster, 'node2', 'cancelled.txt');
      const shown = expectStatus(cluster.login(`scontrol show job -dd ${job}; scontrol write batch_script ${job} -`));
      expectText(shown, new RegExp(`JobId=${job}`));
      if (shown.includes(SECRET)) throw new Error('scontrol shows it');
      // One file with it is made, so that a search that finds nothing is seen.
      const search = (/** @type {string} */ places, /** @type {string} */ processes) => `places="${places}"
printf '%s%s' ${SECRET.slice(0, 9)} ${SECRET.slice(9)} >/var/spool/planted
grep -rla -D skip '${PATTERN}' $places; grep -la '${PATTERN}' ${processes} 2>/dev/null; rm /var/spool/planted`;
      const found = [
        cluster.login(search(`/var/spool /var/log ${SHARED}/sessions ${SHARED}/bases`, '/dev/null'), { user: 'root' }),
        ...NODES.map(({ name }) =>
          cluster.on(
            name,
            search(`/var/spool /var/log /run /tmp ${SCRATCH}`, '/proc/[0-9]*/cmdline /proc/[0-9]*/environ'),
          ),
        ),
      ];
      for (const { output } of found)
        if (output.trim() !== '/var/spool/planted') throw new Error(`found in: ${output}`);
      cluster.login(`scancel ${job}`);
      expectText(await untilEnd(cluster, 'cancelled.txt'), new RegExp(`job ${job} ended: CANCELLED`));
      const { output } = cluster.login('run-claude diff --stat');
      expectText(output, /created .*cancelled\.txt/);
      expectText(output, /deleted .*file-1/);
      await untilNoJob(cluster);
      return `not in scontrol, nor in files, arguments and environments of ${node} and the other node, the controller's state and the shared directory; what the cancelled agent wrote and removed was collected`;
    },
  },
  { name: 'probe with runc', run: (cluster) => probe(cluster, 'node1') },
  { name: 'probe with crun', run: (cluster) => probe(cluster, 'node2') },
  {
    name: 'killed command',
    run: async (cluster) => {
      startWaiting(cluster, 'short', 'lost.txt');
      cluster.login('pkill -9 -f "main.js exec.*lost.txt"');
      await untilNoJob(cluster);
      expectText(cluster.login('run-claude diff --stat').output, /created .*lost\.txt/);
      await untilNoJob(cluster);
      return 'the job ended by itself, and the next command collected what its agent wrote';
    },
  },
  {
    name: 'node without power',
    run: async (cluster) => {
      const { job, node } = startWaiting(cluster, 'short', 'failed.txt');
      const from = Date.now();
      cluster.powerOff(node);
      expectText(await untilEnd(cluster, 'failed.txt'), new RegExp(`job ${job} ended: NODE_FAIL`));
      const seconds = Math.round((Date.now() - from) / 1000);
      const { output, status } = cluster.login('run-claude diff --stat');
      if (status !== 125) throw new Error(lastLines(output));
      expectText(output, /ended before it saved what its agent wrote/);
      expectText(cluster.login('run-claude sessions').output, /failed/);
      const other = cluster.login(
        "run-claude exec --on slurm:short --credentials none --yes . -- sh -c 'echo 1 >after.txt'",
      );
      expectText(other.output, /1 file created/);
      return `the command said so after ${seconds} s, the session has failed, and the next one ran on the other node`;
    },
  },
];
