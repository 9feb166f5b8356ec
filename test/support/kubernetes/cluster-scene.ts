import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { readSeccompProfile } from '../../../src/engines/engine/hardening/seccomp.ts';
import { listSessions } from '../../../src/session/record/session.ts';
import { connectForTest } from '../engine.ts';
import { testImage } from '../image.ts';
import { mainJs } from '../scene.ts';
import { collectOutput, type StartedCommand } from '../started-command.ts';
import { ApiServer } from './api-server.ts';
import { Containerd } from './containerd.ts';
import { imageLayer } from './image-layer.ts';
import { Node } from './node.ts';

const RUNC = ['/usr/sbin/runc', '/usr/bin/runc'].find((file) => existsSync(file));
const WRAPPER = path.resolve(import.meta.dirname, '../../../deploy/kubernetes/wrapper.c');
const STAND_IN = path.resolve(import.meta.dirname, '../stand-in/messages-api.mjs');
const IMAGE = 'run-claude.test/session:1';
const PORT = 8080;
/** Looks public, and exists in the network of the pods alone: what the gateway sends to a private one passes its output. */
const PROVIDER = '9.9.9.10';

/** The image of sessions, as configuration and pods name it. */
export const REFERENCE = `registry.test/run-claude@sha256:${'a'.repeat(64)}`;
/** The credential of the scene's user. */
export const SECRET = 'sk-ant-api03-of-the-stand-in-for-kubernetes';

/** Names the cluster on the command line. */
export const ON: readonly string[] = ['--on', 'k8s:test'];

/** The words that run a script in a pod, without a gateway. */
export const execWords = (script: string): readonly string[] => [
  ...['exec', ...ON, '--network', 'none', '--yes', '.'],
  ...['--', 'sh', '-c', script],
];

/** Whether pods can be run here. */
export const canRunPods = process.getuid?.() === 0 && RUNC !== undefined && existsSync('/usr/lib/cni/bridge');

export interface EndedCommand {
  readonly status: number | null;
  readonly output: string;
}

/** A user with a project and a cluster: a stand-in of the API server over a real containerd. */
export class ClusterScene implements AsyncDisposable {
  readonly containerd: Containerd;
  readonly node: Node;
  readonly api: ApiServer;
  readonly root: string;
  readonly project: string;
  readonly #children: { kill(signal: 'SIGKILL'): boolean }[] = [];

  private constructor(containerd: Containerd, node: Node, api: ApiServer) {
    this.containerd = containerd;
    this.node = node;
    this.api = api;
    this.root = mkdtempSync(path.join(tmpdir(), 'rc-cluster-user-'));
    this.project = path.join(this.root, 'project');
    mkdirSync(path.dirname(this.config), { recursive: true });
    mkdirSync(this.project);
    writeFileSync(path.join(this.project, 'a.txt'), 'hello\n');
  }

  /** `table`: lines of `[kubernetes]` besides the image. */
  static async start(name: string, table: readonly string[]): Promise<ClusterScene> {
    const engine = await connectForTest(name);
    const image = await testImage(engine);
    await engine.close();
    const containerd = await Containerd.start(RUNC ?? '', WRAPPER);
    containerd.importImage(IMAGE, imageLayer(image, containerd.dir, []), '/bin/true');
    const node = new Node(containerd, await readSeccompProfile(), new Map([[REFERENCE, IMAGE]]));
    const scene = new ClusterScene(containerd, node, await ApiServer.start(node));
    writeFileSync(scene.config, ['[kubernetes]', `image = "${REFERENCE}"`, 'patience = 15', ...table, ''].join('\n'));
    return scene;
  }

  get config(): string {
    return path.join(this.root, '.config/run-claude/config.toml');
  }

  /** Runs `body` with another text of the configuration. */
  async configured<T>(change: (text: string) => string, body: () => Promise<T>): Promise<T> {
    const text = readFileSync(this.config, 'utf8');
    writeFileSync(this.config, change(text));
    return body().finally(() => writeFileSync(this.config, text));
  }

  /** Starts run-claude in the project. */
  start(words: readonly string[], env: Readonly<Record<string, string>> = {}): StartedCommand {
    const child = spawn(process.execPath, [mainJs, ...words], {
      cwd: this.project,
      env: {
        PATH: process.env['PATH'],
        HOME: this.root,
        LANG: 'C.UTF-8',
        KUBECONFIG: this.api.kubeconfig,
        ANTHROPIC_BASE_URL: `http://${PROVIDER}:${PORT}`,
        ANTHROPIC_API_KEY: SECRET,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return collectOutput(child);
  }

  async run(...words: readonly string[]): Promise<EndedCommand> {
    const { ended, output } = this.start(words);
    return { status: await ended, output: output() };
  }

  /** The id of the newest session. */
  newest(): string {
    return listSessions(path.join(this.root, '.local/state/run-claude')).sessions[0]?.id ?? '';
  }

  /** The pod of the newest session's agent; empty without one. */
  agentPod(): string {
    const pattern = new RegExp(`^run-claude-${this.newest()}-[0-9a-f]{8}$`);
    return this.api.names('Pod').find((name) => pattern.test(name)) ?? '';
  }

  /** Starts the provider in the network of the pods: its agent writes `claude.txt` by a command. */
  async startProvider(command = 'echo by-claude > claude.txt'): Promise<void> {
    const net = `--net=/proc/${this.containerd.pid}/ns/net`;
    execFileSync('nsenter', [net, 'ip', 'address', 'add', `${PROVIDER}/32`, 'dev', 'lo']);
    const turn = { tools: [{ name: 'Bash', input: { command } }] };
    const program = `import { startMessagesApi } from ${JSON.stringify(pathToFileURL(STAND_IN).href)};
      await startMessagesApi({ host: '${PROVIDER}', port: ${PORT}, turns: [], turnFor: (body) =>
        JSON.stringify(body).includes('"role":"assistant"') ? { text: 'Done.' } : ${JSON.stringify(turn)} });
      console.log('ready');`;
    const words = [net, process.execPath, '--input-type=module', '-e', program];
    const provider = spawn('nsenter', words, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#children.push(provider);
    await new Promise((resolve) => provider.stdout.once('data', resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    await this.api[Symbol.asyncDispose]();
    await this.containerd[Symbol.asyncDispose]();
    rmSync(this.root, { recursive: true, force: true });
  }
}
