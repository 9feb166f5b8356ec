import { readSeccompProfile } from '../engine/hardening/seccomp.ts';
import type { RunClaudeError } from '../errors.ts';
import type { CredentialSource } from '../types/credential.ts';
import type { Engine } from '../types/engine.ts';
import type { Tell } from '../types/event.ts';
import type { GatewayConfig, GatewayUsage } from '../types/gateway.ts';
import type { Plan } from '../types/plan.ts';
import type { UsageTotals } from '../types/session.ts';
import { type AgentSide, agentSide, gatewayNames } from './agent-side.ts';
import { resolveBrokers } from './brokers.ts';
import { gatewayConfig } from './config.ts';
import { startContainer } from './gateway-container.ts';
import { keepRunning } from './keep-running.ts';
import { watchAllowed } from './live-rules.ts';
import { type HostTotal, networkLogFile, openNetworkLog } from './network-log.ts';
import { findUpstreams } from './upstream.ts';
import { usageLine, writeUsage } from './usage.ts';

export interface GatewayOptions {
  readonly engine: Engine;
  readonly plan: Plan;
  readonly credential: CredentialSource | undefined;
  readonly tell: Tell;
  /** This process's environment: ANTHROPIC_BASE_URL, HTTPS_PROXY, NODE_EXTRA_CA_CERTS are the host's own. */
  readonly env: NodeJS.ProcessEnv;
  /** An agent runs already and has the volume of a gateway that is gone: this one takes that one's place. */
  readonly agentRuns?: boolean;
}

/** The agent's way out: what its container needs, and what the session asks while it runs. */
export interface Gateway extends AgentSide {
  /** Rejects when it could not be started (GATEWAY_FAILED, or what the engine says): the agent's container must end. */
  readonly ready: Promise<void>;
  /** Resolves when the gateway is gone and cannot be had back: the session must be stopped. Never rejects. */
  readonly lost: Promise<RunClaudeError>;
  /** Resolves with the reason when --max-cost or --max-requests is reached: stop the agent, exit 124. */
  readonly exceeded: Promise<string>;
  usage(): UsageTotals;
  hosts(): readonly HostTotal[];
  /** The network log's file. */
  readonly log: string;
  /** The agent has ended: begins to end the gateway too, side by side with whatever else ends. */
  quit(): void;
  /**
   * After the agent's container is removed; one that `agentStays` keeps the volume for the next gateway. Never throws
   * for what is gone already.
   */
  stop(agentStays?: boolean): Promise<void>;
}

/**
 * Begins to start the session's gateway, side by side with the rest of the stage; `ready` says when it is there. With
 * `--network none` there is none, and the agent has no network at all.
 *
 * @throws RunClaudeError USAGE (rules), BROKER_FAILED, CREDENTIAL_EXPIRED, or what the engine says; nothing of it is
 * left then.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { engine, plan, tell, env } = options;
  const { policy, sessionId } = plan;
  const log = openNetworkLog(networkLogFile(plan.sessionDir), tell);
  const side = agentSide(plan, options.credential, env);
  if (policy.network === 'none') return noGateway(side, log.file, () => log.close());
  const { volume, network } = gatewayNames(sessionId);
  const labels = { 'run-claude.session': sessionId };
  let made: Promise<unknown> = Promise.resolve();
  const clear = async (agentStays = false): Promise<void> => {
    log.close();
    await made;
    const volumeGone = agentStays ? Promise.resolve() : engine.removeVolume(volume);
    await Promise.all([volumeGone, engine.removeNetwork(network, 'unawaited')]);
  };
  try {
    const credential = policy.credentials === 'broker' ? options.credential : undefined;
    const networkMade = engine.createNetwork(network, labels);
    made = networkMade.catch(() => undefined);
    const [config, seccomp] = await Promise.all([
      configure(credential),
      readSeccompProfile(),
      // One of a killed command has sockets in it.
      (options.agentRuns === true ? Promise.resolve() : engine.removeVolume(volume)).then(() =>
        engine.createVolume({ name: volume, labels }),
      ),
    ]);
    const { image } = plan;
    let filled: () => void = () => undefined;
    const whenFilled = new Promise<void>((resolve) => {
      filled = resolve;
    });
    const parts = { sessionId, image, seccomp, volume, network, networkMade, filled };
    const kept = keepRunning({
      start: () => startContainer(engine, parts),
      config: config.gateway,
      targets: config.targets,
      credential,
      secret: config.gateway.secret,
      log,
      tell,
      keepUsage: (usage) => writeUsage(plan.sessionDir, usage),
    });
    const unwatch = watchAllowed(plan.sessionDir, (rules) => {
      kept.setRules([...config.gateway.rules, ...rules]);
      tell({ kind: 'message', level: 'info', text: `network: allowed ${rules.at(-1)?.host ?? ''}` });
    });
    let quitting: Promise<void> | undefined;
    const quit = (): Promise<void> => {
      unwatch();
      quitting ??= kept.stop();
      return quitting;
    };
    // The agent's container must not be the first to mount the volume.
    await Promise.race([whenFilled, kept.ready.catch(() => undefined)]);
    return {
      ...side,
      ready: kept.ready,
      lost: kept.lost,
      exceeded: kept.exceeded,
      usage: kept.usage,
      hosts: log.totals,
      log: log.file,
      quit: () => void quit().catch(() => undefined),
      stop: async (agentStays) => {
        await quit();
        await clear(agentStays);
        for (const text of atEnd(kept.usage(), log.totals())) tell({ kind: 'message', level: 'info', text });
      },
    };
  } catch (error) {
    await clear().catch((left: unknown) => tell({ kind: 'trace', text: `gateway: ${String(left)}` }));
    throw error;
  }

  async function configure(credential: CredentialSource | undefined) {
    const [upstreams, secret, brokers] = await Promise.all([
      findUpstreams(env, credential?.cloud),
      credential === undefined ? undefined : credential.current(),
      resolveBrokers(policy.brokers),
    ]);
    const gateway: GatewayConfig = gatewayConfig(policy, upstreams, secret, brokers);
    return { gateway, targets: upstreams.targets };
  }
}

/** What a person is told when it is over. */
function atEnd(usage: GatewayUsage, hosts: readonly HostTotal[]): string[] {
  const refused = hosts.filter((total) => total.refused > 0 && !total.quiet);
  const names = new Set(refused.map(({ host }) => host));
  const count = `${names.size} ${names.size === 1 ? 'host was' : 'hosts were'} refused`;
  return [
    ...(usage.requests > 0 ? [usageLine(usage)] : []),
    ...(names.size > 0 ? [`network: ${count}; run-claude network tells which, --suggest what would allow them`] : []),
  ];
}

/** No network at all: nothing to start, nothing to lose. */
function noGateway(side: AgentSide, log: string, close: () => void): Gateway {
  const never = new Promise<never>(() => undefined);
  return {
    ...side,
    ready: Promise.resolve(),
    lost: never,
    exceeded: never,
    usage: () => ({ requests: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 }),
    hosts: () => [],
    log,
    quit: () => undefined,
    stop: async () => close(),
  };
}
