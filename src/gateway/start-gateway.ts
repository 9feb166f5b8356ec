import { readSeccompProfile } from '../engine/seccomp.ts';
import type { RunClaudeError } from '../errors.ts';
import type { CredentialSource } from '../types/credential.ts';
import type { ContainerSpec, Engine, Mount } from '../types/engine.ts';
import type { Tell } from '../types/event.ts';
import type { GatewayConfig } from '../types/gateway.ts';
import type { Plan } from '../types/plan.ts';
import type { UsageTotals } from '../types/session.ts';
import { type AgentSide, agentEnv, forwards, GATEWAY_VOLUME, modelVariables } from './agent-side.ts';
import { resolveBrokers } from './brokers.ts';
import { gatewayConfig } from './config.ts';
import { startContainer } from './gateway-container.ts';
import { keepRunning } from './keep-running.ts';
import { watchAllowed } from './live-rules.ts';
import { type HostTotal, networkLogFile, openNetworkLog } from './network-log.ts';
import { findUpstreams } from './upstream.ts';

export interface GatewayOptions {
  readonly engine: Engine;
  readonly plan: Plan;
  readonly credential: CredentialSource | undefined;
  readonly tell: Tell;
  /** This process's environment: ANTHROPIC_BASE_URL, HTTPS_PROXY, NODE_EXTRA_CA_CERTS are the host's own. */
  readonly env: NodeJS.ProcessEnv;
}

/** The agent's way out, ready: what its container needs, and what the session asks while it runs. */
export interface Gateway {
  readonly mounts: readonly Mount[];
  readonly env: Readonly<Record<string, string>>;
  /** For init's --forward. */
  readonly forwards: readonly string[];
  readonly agentNetwork: ContainerSpec['network'];
  /** Resolves when the gateway is gone and cannot be had back: the session must be stopped. Never rejects. */
  readonly lost: Promise<RunClaudeError>;
  /** Resolves with the reason when --max-cost or --max-requests is reached: stop the agent, exit 124. */
  readonly exceeded: Promise<string>;
  usage(): UsageTotals;
  hosts(): readonly HostTotal[];
  /** The network log's file. */
  readonly log: string;
  /** After the agent's container is removed. Never throws for what is gone already. */
  stop(): Promise<void>;
}

/**
 * Starts the session's gateway: to be run side by side with the rest of the stage. With `--network none` there is
 * none, and the agent has no network at all.
 *
 * @throws RunClaudeError GATEWAY_FAILED, USAGE (rules), BROKER_FAILED, CREDENTIAL_EXPIRED, or what the engine says;
 * nothing of it is left then.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { engine, plan, tell, env } = options;
  const { policy, sessionId } = plan;
  const log = openNetworkLog(networkLogFile(plan.sessionDir), tell);
  if (policy.network === 'none') return noGateway(log.file, () => log.close());
  const volume = `run-claude-${sessionId}-gw`;
  const network = `run-claude-${sessionId}`;
  const labels = { 'run-claude.session': sessionId };
  let made: Promise<unknown> = Promise.resolve();
  const clear = async (): Promise<void> => {
    log.close();
    await made;
    await Promise.all([engine.removeVolume(volume), engine.removeNetwork(network)]);
  };
  try {
    const credential = policy.credentials === 'broker' ? options.credential : undefined;
    const networkMade = engine.createNetwork(network, labels);
    made = networkMade.catch(() => undefined);
    const [config, seccomp] = await Promise.all([
      configure(credential),
      readSeccompProfile(),
      engine.createVolume({ name: volume, labels }),
    ]);
    const kept = await keepRunning({
      start: () =>
        startContainer(engine, {
          sessionId,
          image: plan.image,
          seccomp,
          volume,
          network,
          networkMade,
          runtime: policy.runtime,
        }),
      config: config.gateway,
      targets: config.targets,
      credential,
      secret: config.gateway.secret,
      log,
      tell,
    });
    const unwatch = watchAllowed(plan.sessionDir, (rules) => {
      kept.setRules([...config.gateway.rules, ...rules]);
      tell({ kind: 'message', level: 'info', text: `network: allowed ${rules.at(-1)?.host ?? ''}` });
    });
    const side: AgentSide = {
      credential: policy.credentials === 'broker' ? (credential?.kind ?? 'oauth') : undefined,
      api: credential?.cloud?.api,
      models: credential?.cloud === undefined ? {} : modelVariables(env),
      proxy: policy.network === 'gateway',
      sessionCa: config.gateway.brokers.length > 0,
    };
    return {
      mounts: [{ kind: 'volume', volume, target: GATEWAY_VOLUME, readonly: true }],
      env: agentEnv(side),
      forwards: forwards(side),
      agentNetwork: policy.network === 'open' ? { bridge: network } : 'none',
      lost: kept.lost,
      exceeded: kept.exceeded,
      usage: kept.usage,
      hosts: log.totals,
      log: log.file,
      stop: async () => {
        unwatch();
        await kept.stop();
        await clear();
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

/** No network at all: nothing to start, nothing to lose. */
function noGateway(log: string, close: () => void): Gateway {
  const never = new Promise<never>(() => undefined);
  return {
    mounts: [],
    env: {},
    forwards: [],
    agentNetwork: 'none',
    lost: never,
    exceeded: never,
    usage: () => ({ requests: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 }),
    hosts: () => [],
    log,
    stop: async () => close(),
  };
}
