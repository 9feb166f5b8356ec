import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { credentials, loadPackageDefinition, type ServiceError } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

type Call = (request: object, answer: (error: ServiceError | null, response: unknown) => void) => void;

/** The address of the pods' bridge, in the network namespace of the test's containerd. */
export const BRIDGE_ADDRESS = '10.207.0.1';

const START_MS = 30_000;
const PAUSE_IMAGE = 'run-claude.test/pause:1';
const PAUSE = '#include <unistd.h>\nint main(void) { for (;;) pause(); }\n';

/** A containerd of the test's own: its root, its state, its sockets and its network namespace. The system's is another. */
export class Containerd implements AsyncDisposable {
  readonly dir: string;
  readonly #process: ChildProcess;
  readonly #service: Readonly<Record<string, Call>>;
  readonly #close: () => void;

  private constructor(dir: string, process: ChildProcess, service: Readonly<Record<string, Call>>, close: () => void) {
    this.dir = dir;
    this.#process = process;
    this.#service = service;
    this.#close = close;
  }

  /** `wrapper`: BinaryName of the runtime `run-claude`; the runtime `plain` is runc itself. */
  static async start(runc: string, wrapperSource: string): Promise<Containerd> {
    const dir = mkdtempSync(path.join(tmpdir(), 'rc-cri-'));
    for (const name of ['root', 'state', 'opt', 'cni', 'cni-data', 'logs', 'volumes']) mkdirSync(path.join(dir, name));
    const wrapper = path.join(dir, 'run-claude-runc');
    const flags = ['-static', '-O2', '-std=gnu11', '-Wall', '-Wextra', '-Werror'];
    execFileSync('gcc', [...flags, '-o', wrapper, wrapperSource, '-ljansson']);
    writeFileSync(path.join(dir, 'config.toml'), configText(dir, runc, wrapper));
    writeFileSync(path.join(dir, 'cni', '10-test.conflist'), networkText(dir));
    // Its containers, mounts and interfaces end with it. Sockets of shims are in /run/containerd, whatever its state is.
    const script =
      'ip link set lo up && mkdir -p /run/containerd && mount -t tmpfs tmpfs /run/containerd && exec containerd --log-level warn --config "$1"';
    const own = ['--net', '--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child', '--mount-proc'];
    const log = path.join(dir, 'containerd.log');
    const child = spawn('unshare', [...own, 'sh', '-c', script, 'sh', path.join(dir, 'config.toml')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr?.on('data', (data: Buffer) => writeFileSync(log, data, { flag: 'a' }));
    const definition = loadPackageDefinition(
      loadSync(path.join(import.meta.dirname, 'cri.proto'), { keepCase: true, defaults: true, enums: String }),
    );
    const Service = (definition as unknown as { runtime: { v1: { RuntimeService: ServiceClass } } }).runtime.v1
      .RuntimeService;
    const client = new Service(`unix:${path.join(dir, 'containerd.sock')}`, credentials.createInsecure());
    const service = client as unknown as Readonly<Record<string, Call>>;
    const containerd = new Containerd(dir, child, service, () => client.close());
    await containerd.#ready(log);
    containerd.#importPause();
    return containerd;
  }

  async #ready(log: string): Promise<void> {
    const until = Date.now() + START_MS;
    for (;;) {
      const isReady = await this.call('Version', { version: 'v1' }).then(
        () => true,
        () => false,
      );
      if (isReady) return;
      if (Date.now() > until || this.#process.exitCode !== null)
        throw new Error(`containerd did not start: ${existsSync(log) ? readFileSync(log, 'utf8').slice(-2000) : ''}`);
      await delay(100);
    }
  }

  /** The process whose network namespace has the pods' bridge. */
  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** The control group of its containers. */
  get cgroup(): string {
    return `/run-claude-test-${this.pid}`;
  }

  /** One call of the runtime service. Rejects with its error's details. */
  call<T>(name: string, request: object): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#service[name]?.(request, (error, response) =>
        error === null ? resolve(response as T) : reject(new Error(error.details)),
      );
    });
  }

  /** Makes an image of one layer, whose tar this is, and of a program. */
  importImage(name: string, layer: string, program: string): void {
    const digest = (bytes: Buffer | string) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    const layout = mkdtempSync(path.join(this.dir, 'image-'));
    const blobs = path.join(layout, 'blobs', 'sha256');
    mkdirSync(blobs, { recursive: true });
    const sum = sumOf(layer);
    const store = (value: object): { digest: string; size: number } => {
      const text = JSON.stringify(value);
      writeFileSync(path.join(blobs, digest(text).slice(7)), text);
      return { digest: digest(text), size: text.length };
    };
    const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
    const config = store({
      architecture,
      os: 'linux',
      config: { Entrypoint: [program] },
      rootfs: { type: 'layers', diff_ids: [`sha256:${sum}`] },
    });
    const media = 'application/vnd.oci.image';
    const manifest = store({
      schemaVersion: 2,
      mediaType: `${media}.manifest.v1+json`,
      config: { mediaType: `${media}.config.v1+json`, ...config },
      layers: [{ mediaType: `${media}.layer.v1.tar`, digest: `sha256:${sum}`, size: statSync(layer).size }],
    });
    const index = {
      schemaVersion: 2,
      manifests: [
        {
          mediaType: `${media}.manifest.v1+json`,
          ...manifest,
          annotations: { 'io.containerd.image.name': name },
          platform: { architecture, os: 'linux' },
        },
      ],
    };
    writeFileSync(path.join(layout, 'index.json'), JSON.stringify(index));
    writeFileSync(path.join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    execFileSync('ln', [layer, path.join(blobs, sum)]);
    const script = 'tar -c -C "$1" . | ctr --address "$2" -n k8s.io images import --no-unpack -';
    execFileSync('bash', ['-o', 'pipefail', '-c', script, 'import', layout, path.join(this.dir, 'containerd.sock')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    rmSync(layout, { recursive: true });
  }

  #importPause(): void {
    const root = path.join(this.dir, 'pause');
    mkdirSync(root);
    execFileSync('gcc', ['-static', '-O1', '-x', 'c', '-o', path.join(root, 'pause'), '-'], { input: PAUSE });
    execFileSync('tar', ['-c', '-C', root, '-f', `${root}.tar`, '.']);
    this.importImage(PAUSE_IMAGE, `${root}.tar`, '/pause');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGKILL');
    await ended;
    // The kernel empties a group some time after the end of its processes.
    const remove = `for try in 1 2 3 4 5; do
      find /sys/fs/cgroup -depth -type d -path "*$1*" -exec rmdir {} + 2>/dev/null && exit; sleep 1; done`;
    execFileSync('sh', ['-c', remove, 'remove', this.cgroup], { stdio: 'ignore' });
    rmSync(this.dir, { recursive: true, force: true });
  }
}

const PIECE = 1 << 20;

/** SHA-256 of a large file. */
function sumOf(file: string): string {
  const [hash, piece, fd] = [createHash('sha256'), Buffer.alloc(PIECE), openSync(file, 'r')];
  for (let size = readSync(fd, piece); size > 0; size = readSync(fd, piece)) hash.update(piece.subarray(0, size));
  closeSync(fd);
  return hash.digest('hex');
}

type ServiceClass = new (address: string, security: ReturnType<typeof credentials.createInsecure>) => { close(): void };

function configText(dir: string, runc: string, wrapper: string): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = "${dir}/root"
state = "${dir}/state"
[grpc]
  address = "${dir}/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "${dir}/opt"
[${cri}]
  sandbox_image = "${PAUSE_IMAGE}"
  netns_mounts_under_state_dir = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  restrict_oom_score_adj = true
[${cri}.cni]
  bin_dir = "/usr/lib/cni"
  conf_dir = "${dir}/cni"
[${cri}.containerd]
  snapshotter = "overlayfs"
  default_runtime_name = "plain"
[${cri}.containerd.runtimes.plain]
  runtime_type = "io.containerd.runc.v2"
  [${cri}.containerd.runtimes.plain.options]
    BinaryName = "${runc}"
[${cri}.containerd.runtimes.run-claude]
  runtime_type = "io.containerd.runc.v2"
  pod_annotations = ["run-claude.*"]
  [${cri}.containerd.runtimes.run-claude.options]
    BinaryName = "${wrapper}"
[${cri}.containerd.runtimes.no-annotations]
  runtime_type = "io.containerd.runc.v2"
  [${cri}.containerd.runtimes.no-annotations.options]
    BinaryName = "${wrapper}"
`;
}

function networkText(dir: string): string {
  const ipam = {
    type: 'host-local',
    dataDir: `${dir}/cni-data`,
    ranges: [[{ subnet: '10.207.0.0/24' }]],
    routes: [{ dst: '0.0.0.0/0' }],
  };
  return JSON.stringify({
    cniVersion: '0.4.0',
    name: 'run-claude-test',
    plugins: [{ type: 'bridge', bridge: 'pods', isGateway: true, ipam }],
  });
}
