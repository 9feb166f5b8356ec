import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Debian's account without rights. Slurm starts jobs for accounts only. */
const USER = { uid: 65_534, gid: 65_534 };
/** The last one has crun alone. */
const NODES = ['n1', 'n2', 'n3'] as const;
const RUNC = '/usr/sbin/runc';
const CPUS = 2;

/** Whether this machine can be a cluster: slurmctld, slurmd and munged are installed, and the test runs as root. */
export function hasSlurm(): boolean {
  const programs = ['/usr/sbin/slurmctld', '/usr/sbin/slurmd', '/usr/sbin/munged', RUNC, '/usr/bin/crun'];
  return process.getuid?.() === 0 && programs.every((file) => existsSync(file));
}

/** A cluster of three nodes on this machine, two of them in the partitions `test` and `brief`: real daemons of Slurm, each node with ports and its own spool. */
export class SlurmCluster implements AsyncDisposable {
  readonly root: string = mkdtempSync(path.join(tmpdir(), 'rc-slurm-'));
  readonly user = USER;
  readonly shared: string = path.join(this.root, 'shared');
  /** Stands for each node's own disk. */
  readonly scratch: string = path.join(this.root, 'scratch');
  readonly conf: string = path.join(this.root, 'slurm.conf');
  private readonly daemons: string[] = [];

  static async start(): Promise<SlurmCluster> {
    const cluster = new SlurmCluster();
    await cluster.begin();
    return cluster;
  }

  private async begin(): Promise<void> {
    chmodSync(this.root, 0o755);
    const own = (name: string): string => path.join(this.root, name);
    for (const name of ['state', 'log', ...NODES.map((node) => `spool.${node}`), 'munge']) mkdirSync(own(name));
    for (const dir of [this.shared, this.scratch]) {
      mkdirSync(dir, { mode: 0o700 });
      chownSync(dir, USER.uid, USER.gid);
    }
    writeFileSync(own('munge.key'), randomBytes(128), { mode: 0o600 });
    const socket = own('munge/socket');
    const munge = ['--key-file', own('munge.key'), '--socket', socket, '--pid-file', own('munge/pid')];
    const files = ['--log-file', own('munge/log'), '--seed-file', own('munge/seed'), '--force'];
    execFileSync('/usr/sbin/munged', [...munge, ...files], { stdio: 'ignore' });
    this.daemons.push(own('munge/pid'));
    const ports = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    writeFileSync(this.conf, this.settings(socket, ports));
    execFileSync('/usr/sbin/slurmctld', ['-c', '-f', this.conf], { stdio: 'ignore' });
    this.daemons.push(own('ctld.pid'));
    for (const node of NODES) this.startNode(node);
    const idle = (): readonly string[] => this.query('sinfo', '-h', '-N', '-t', 'idle', '-o', '%N').split(/\s+/);
    for (let tries = 0; NODES.some((node) => !idle().includes(node)); tries++) {
      if (tries > 120) throw new Error(`The nodes are not idle: ${this.query('sinfo')}`);
      await sleep(500);
    }
    // crun refuses control groups of both versions at once, and slurmd those of version 2 alone.
    const daemon = readFileSync(own('n3.pid'), 'utf8').trim();
    const mount = ['mount', '-t', 'cgroup2', 'cgroup2', '/sys/fs/cgroup'];
    execFileSync('nsenter', ['--mount', '-t', daemon, ...mount], { stdio: 'ignore' });
  }

  private settings(socket: string, [controller, ...nodes]: readonly number[]): string {
    const lines = NODES.map(
      (node, at) =>
        `NodeName=${node} NodeHostname=${hostname().split('.')[0]} NodeAddr=127.0.0.1 Port=${nodes[at]} CPUs=${CPUS} RealMemory=12000 State=UNKNOWN`,
    );
    return `ClusterName=run-claude-test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=${controller}
SlurmUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket=${socket}
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SlurmdParameters=config_overrides
SlurmctldPidFile=${this.root}/ctld.pid
SlurmdPidFile=${this.root}/%n.pid
SlurmdSpoolDir=${this.root}/spool.%n
StateSaveLocation=${this.root}/state
SlurmctldLogFile=${this.root}/log/controller
SlurmdLogFile=${this.root}/log/%n
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
KillWait=30
SlurmdTimeout=30
${lines.join('\n')}
PartitionName=test Nodes=n1,n2 Default=YES MaxTime=60 State=UP OverSubscribe=NO
PartitionName=crun Nodes=n3 MaxTime=60 State=UP
PartitionName=brief Nodes=n1,n2 DefaultTime=3 MaxTime=3 State=UP OverSubscribe=NO
`;
  }

  startNode(node: string): void {
    const daemon = ['/usr/sbin/slurmd', '-N', node, '-f', this.conf];
    const own = ['unshare', '--mount', 'sh', '-c', `mount --bind /dev/null ${RUNC} && exec "$@"`, 'sh'];
    const [program = '', ...words] = node === 'n3' ? [...own, ...daemon] : daemon;
    execFileSync(program, words, { stdio: 'ignore' });
    const file = path.join(this.root, `${node}.pid`);
    if (!this.daemons.includes(file)) this.daemons.push(file);
  }

  /** Starts a node that failed, and waits until jobs may run there. */
  async reviveNode(node: string): Promise<void> {
    this.startNode(node);
    this.query('scontrol', 'update', `nodename=${node}`, 'state=resume');
    for (let tries = 0; this.query('sinfo', '-h', '-n', node, '-p', 'test', '-o', '%T').trim() !== 'idle'; tries++) {
      if (tries > 120) throw new Error(`The node is not idle: ${this.query('sinfo')}`);
      await sleep(500);
    }
  }

  /** The output of a command of Slurm, run by root. */
  query(...argv: readonly string[]): string {
    const [program = '', ...words] = argv;
    return spawnSync(program, words, { encoding: 'utf8', env: { ...process.env, SLURM_CONF: this.conf } }).stdout;
  }

  /** Ids and nodes of the jobs that run. */
  jobs(): readonly { readonly id: string; readonly node: string }[] {
    const lines = this.query('squeue', '-h', '-t', 'RUNNING,COMPLETING', '-o', '%i %N').split('\n');
    return lines.flatMap((line) => {
      const [id, node] = line.split(' ');
      return id === undefined || id === '' || node === undefined ? [] : [{ id, node }];
    });
  }

  /** Ends everything of a job at once, as a machine that loses its power: the node's daemon and every process. */
  failNode(node: string, workPrefix: string): void {
    const daemon = Number(readFileSync(path.join(this.root, `${node}.pid`), 'utf8'));
    const killed = new Set<number>([daemon]);
    for (const { pid, command } of processes())
      if (command.includes(workPrefix) || command.startsWith('slurmstepd: [')) killed.add(pid);
    // The children of the steps: the job's script, the runtime, and the containers.
    for (let found = true; found; ) {
      found = false;
      for (const { pid, parent } of processes())
        if (killed.has(parent) && parent !== 1 && !killed.has(pid)) {
          killed.add(pid);
          found = true;
        }
    }
    for (const pid of killed) spawnSync('kill', ['-9', String(pid)]);
    this.query('scontrol', 'update', `nodename=${node}`, 'state=down', 'reason=test');
  }

  /** Files below these directories of the daemons, and below the shared one, that hold a text. */
  filesWith(text: string): readonly string[] {
    const spools = NODES.map((node) => `spool.${node}`);
    const places = ['state', 'log', ...spools, 'shared/sessions', 'shared/bases'].map((one) =>
      path.join(this.root, one),
    );
    const found = spawnSync('grep', ['-rlaF', '--', text, ...places.filter((one) => existsSync(one))], {
      encoding: 'utf8',
    });
    return found.stdout.split('\n').filter((line) => line !== '');
  }

  /** Waits until so many containers of jobs run: agent, gateway and collector start side by side. */
  async untilContainers(count: number): Promise<void> {
    const programs = (): number =>
      processes().filter(({ command }) => command.includes(' run --bundle ') && command.includes(this.scratch)).length;
    for (let tries = 0; programs() < count; tries++) {
      if (tries > 60) throw new Error(`${programs()} containers run`);
      await sleep(500);
    }
    await sleep(1000);
  }

  /** Overlays over directories of the nodes' disk, each as its device number: mounts that share one have the same. */
  overlays(): readonly string[] {
    const found = processes().flatMap(({ pid }) => mountsOf(pid).filter((line) => line.includes(this.scratch)));
    return [...new Set(found.filter((line) => line.includes(' - overlay ')).map((line) => line.split(' ')[2] ?? ''))];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { id } of this.jobs()) this.query('scancel', id);
    for (let tries = 0; this.jobs().length > 0 && tries < 80; tries++) await sleep(500);
    for (const file of this.daemons.toReversed()) {
      if (!existsSync(file)) continue;
      const pid = readFileSync(file, 'utf8').trim();
      spawnSync('kill', [pid]);
    }
    await sleep(1000);
    spawnSync('chmod', ['-R', 'u+rwx', this.root]);
    rmSync(this.root, { recursive: true, force: true, maxRetries: 3 });
  }
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

function processes(): readonly Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      return [
        { pid: Number(name), parent, command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') },
      ];
    } catch {
      return [];
    }
  });
}

/** Lines of mountinfo(5); none for a process that has ended. */
function mountsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n');
  } catch {
    return [];
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
