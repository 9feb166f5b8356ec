import { homeAgent } from '../../agents/agents.ts';
import type { RunClaudeError } from '../../core/errors.ts';
import type { CredentialSource } from '../../core/types/agent/credential.ts';
import type { Container } from '../../core/types/engine.ts';
import type { Tell } from '../../core/types/event.ts';
import type { BrokeredHost, GatewayConfig, GatewayUsage, NetworkEntry } from '../../core/types/gateway.ts';
import type { Decoy } from '../../core/types/secret/decoy.ts';
import type { UsageTotals } from '../../core/types/session.ts';
import { placeOf } from '../../engines/capabilities/columns.ts';
import { supports } from '../../engines/capabilities/table.ts';
import { readSeccompProfile } from '../../engines/engine/hardening/seccomp.ts';
import type { AgentPortStream } from './agent-port-stream.ts';
import { type AgentSide, agentSide } from './agent-side.ts';
import { gatewayConfig } from './config.ts';
import { startContainer } from './gateway-container.ts';
import {
  containerParts,
  type FirstContainer,
  type GatewayPlace,
  makeFirst,
  makePlace,
  type PlaceOptions,
} from './gateway-place.ts';
import { keepRunning } from './keep-running.ts';
import { type HostTotal, type NetworkLog, networkLogFile, openNetworkLog } from './network-log.ts';
import type { RelayTargets } from './relay.ts';
import { resolveBrokers } from './rules/brokers.ts';
import { watchAllowed } from './rules/live-rules.ts';
import { findUpstreams, refuseReadableRelay } from './upstream.ts';
import { usageLine, writeUsage } from './usage.ts';

export interface GatewayOptions extends PlaceOptions {
  readonly credential: CredentialSource | undefined;
  readonly tell: Tell;
  /** This process's environment: it has the host's ANTHROPIC_BASE_URL, HTTPS_PROXY and NODE_EXTRA_CA_CERTS. */
  readonly env: NodeJS.ProcessEnv;
  /** By the name of the MCP server's program. */
  readonly companionTokens?: ReadonlyMap<string, string>;
  /** The logins of MCP servers, by the server's name. */
  readonly mcpLogins?: ReadonlyMap<string, CredentialSource>;
  /** The hosts of brokers and MCP servers with their secrets, where the caller resolved them. */
  readonly brokered?: readonly BrokeredHost[];
}

/** The agent's network: what its container needs, and what the session reads while it runs. */
export interface Gateway extends AgentSide {
  /**
   * Resolves when the agent's container may start: what it mounts and the network exist. Rejects as `ready` does.
   */
  readonly prepared: Promise<void>;
  /** Rejects when the gateway could not start (GATEWAY_FAILED, or the engine's error): end the agent then. */
  readonly ready: Promise<void>;
  /** Resolves when the gateway has ended and cannot be restarted: stop the session then. Never rejects. */
  readonly lost: Promise<RunClaudeError>;
  /** Resolves with the reason when --max-cost or --max-requests is reached: stop the agent, exit 124. */
  readonly exceeded: Promise<string>;
  /**
   * Lets the gateway's container start: call it when the agent's has. Two starts at once take each as long as both, and
   * the agent's program does not need the gateway at once.
   */
  begin(): void;
  /** What the agent must not send to another host than its provider: call it before the agent starts. */
  setDecoys(decoys: readonly Decoy[]): void;
  usage(): UsageTotals;
  /** The tool that the model asked for last. */
  lastTool(): string | undefined;
  hosts(): readonly HostTotal[];
  /** The network log's file. */
  readonly log: string;
  /** Adds an entry to it. */
  addToLog(entry: NetworkEntry): void;
  /** A stream to a port on the agent's loopback; undefined while no gateway runs. */
  openPort(port: number): AgentPortStream | undefined;
  /** Begins to end the gateway. Call it when the agent has ended; other parts can end concurrently. */
  quit(): void;
  /**
   * Removes the gateway. Call it after the agent's container was removed. With `agentStays` the volume stays for the
   * next gateway. No error for objects that do not exist.
   */
  stop(agentStays?: boolean): Promise<void>;
}

/**
 * Begins to start the session's gateway, concurrently with the rest of the stage; `ready` reports the end of the start.
 * With `--network none` there is no gateway, and the agent has no network at all.
 * @throws {RunClaudeError} USAGE for a rule that is not valid, BROKER_FAILED, CREDENTIAL_EXPIRED, or the engine's error.
 *   What was made until then is removed.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { plan, tell, env } = options;
  const { policy } = plan;
  const log = openNetworkLog(networkLogFile(plan.sessionDir), tell);
  const side = agentSide(plan, options.credential, env, options.engine);
  if (policy.network === 'none') return noGateway(side, log.file, () => log.close());
  const credential = policy.credentials === 'broker' ? options.credential : undefined;
  const place = makePlace(options);
  let first: FirstContainer | undefined;
  let startedMs: number | undefined;
  let endedMs: number | undefined;
  const remove = async (agentStays: boolean): Promise<void> => {
    log.close();
    await place.remove(agentStays);
  };
  try {
    const configured = configure(options, credential);
    // Awaited below, once the container has begun to start: a slow resolver holds up nothing else.
    configured.catch(() => undefined);
    const [seccomp] = await Promise.all([readSeccompProfile(), place.volumeMade]);
    first = makeFirst(options, place, seccomp);
    const running = runGateway(options, { place, first, config: await configured, seccomp, credential, log });
    const asked = { ...running.asked, begin, quit };
    return { ...side, ...asked, log: log.file, addToLog: log.add, hosts: log.totals, stop };

    function begin(): void {
      startedMs = performance.now();
      first?.begin();
    }

    function quit(): void {
      endedMs ??= performance.now();
      running.asked.quit();
    }

    async function stop(agentStays = false): Promise<void> {
      await running.end();
      await remove(agentStays);
      const ranMs = startedMs === undefined ? undefined : (endedMs ?? performance.now()) - startedMs;
      for (const text of closingLines(running.asked.usage(), log.totals(), ranMs))
        tell({ kind: 'message', level: 'info', text });
    }
  } catch (error) {
    first?.cancel();
    await first?.container.then(
      (container) => container.remove(),
      () => undefined,
    );
    await remove(false).catch((left: unknown) => tell({ kind: 'trace', text: `gateway: ${String(left)}` }));
    throw error;
  }
}

interface GatewaySettings {
  readonly gateway: GatewayConfig;
  readonly targets: RelayTargets;
}

async function configure(
  {
    engine: { facts, gatewayDoor },
    plan: { policy, program },
    env,
    companionTokens,
    mcpLogins,
    brokered,
  }: GatewayOptions,
  credential: CredentialSource | undefined,
): Promise<GatewaySettings> {
  const [upstreams, secret, brokers] = await Promise.all([
    findUpstreams(env, credential?.cloud),
    credential === undefined ? undefined : credential.current(),
    resolveBrokers(policy, companionTokens, mcpLogins, brokered),
  ]);
  const keepsOutput = !supports(placeOf(facts).column, 'no-log');
  if (keepsOutput) refuseReadableRelay(upstreams, facts.endpoint);
  const config = gatewayConfig(policy, upstreams, secret, brokers, homeAgent(program));
  const gateway = { ...config, podDoor: gatewayDoor, tellsCa: !keepsOutput };
  return { gateway, targets: { ...upstreams.targets, ...localTargets(gateway.localPorts) } };
}

/** The gateway names a port; the address is always this machine's loopback. */
function localTargets(ports: readonly number[]): RelayTargets {
  return Object.fromEntries(ports.map((port) => [`local ${port}`, { host: '127.0.0.1', port }]));
}

interface GatewayParts {
  readonly place: GatewayPlace;
  readonly first: FirstContainer;
  readonly config: GatewaySettings;
  readonly seccomp: string;
  readonly credential: CredentialSource | undefined;
  readonly log: NetworkLog;
}

interface RunningGateway {
  readonly asked: Pick<
    Gateway,
    'prepared' | 'ready' | 'lost' | 'exceeded' | 'setDecoys' | 'usage' | 'lastTool' | 'openPort' | 'quit'
  >;
  end(): Promise<void>;
}

/** Uses the first container, starts others after it where one ends, and watches the rules that the user adds. */
function runGateway(options: GatewayOptions, parts: GatewayParts): RunningGateway {
  const { engine, plan, tell } = options;
  const { place, first, config, credential, log } = parts;
  let begun: Promise<Container> | undefined = first.container;
  const kept = keepRunning({
    start() {
      const next = begun ?? startContainer(engine, containerParts(options, place, parts.seccomp));
      begun = undefined;
      return next;
    },
    config: config.gateway,
    targets: config.targets,
    credential,
    secret: config.gateway.secret,
    logins: options.mcpLogins,
    log,
    tell,
    keepUsage: (usage) => writeUsage(plan.sessionDir, usage),
  });
  const unwatch = watchAllowed(plan.sessionDir, (rules) => {
    kept.setRules([...config.gateway.rules, ...rules]);
    tell({ kind: 'message', level: 'info', text: `network: allowed ${rules.at(-1)?.host ?? ''}` });
  });
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => {
    unwatch();
    first.cancel();
    ending ??= kept.stop();
    return ending;
  };
  const { ready, lost, exceeded } = kept;
  const prepared = Promise.race([first.prepared, ready]).then(() => undefined);
  // Awaited by the launch. A failure before that is reported by `ready`.
  prepared.catch(() => undefined);
  return {
    asked: {
      prepared,
      ready,
      lost,
      exceeded,
      setDecoys: (decoys) => kept.setDecoys(decoys),
      usage: () => kept.usage(),
      lastTool: () => kept.lastTool(),
      openPort: (port) => kept.openPort(port),
      quit: () => void end().catch(() => undefined),
    },
    end,
  };
}

/** What the user reads when the session has ended. `ranMs`: how long the agent ran. */
function closingLines(usage: GatewayUsage, hosts: readonly HostTotal[], ranMs: number | undefined): string[] {
  const refused = hosts.filter((total) => total.refused > 0 && !total.quiet);
  const names = new Set(refused.map(({ host }) => host));
  const count = `${names.size} ${names.size === 1 ? 'host was' : 'hosts were'} refused`;
  return [
    ...(usage.requests > 0 ? [usageLine(usage, ranMs)] : []),
    ...(names.size > 0
      ? [`network: ${count}; run-claude network lists them, --suggest prints the rules that would allow them`]
      : []),
  ];
}

/** The gateway of a session without a network. */
function noGateway(side: AgentSide, log: string, close: () => void): Gateway {
  const never = new Promise<never>(() => undefined);
  return {
    ...side,
    prepared: Promise.resolve(),
    begin: () => undefined,
    ready: Promise.resolve(),
    lost: never,
    exceeded: never,
    lastTool: () => undefined,
    setDecoys: () => undefined,
    usage: () => ({ requests: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 }),
    hosts: () => [],
    log,
    addToLog: () => undefined,
    openPort: () => undefined,
    quit: () => undefined,
    stop: async () => close(),
  };
}
