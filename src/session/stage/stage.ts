import path from 'node:path';
import { AGENT_HOME_PATHS, agentOf, homeAgent, namedConversation, programArgv } from '../../agents/agents.ts';
import type { CredentialFile } from '../../agents/claude/credentials/credential-file.ts';
import { dataLabel, dataVolume } from '../../agents/claude/instances/isolated.ts';
import type { StagedClaude } from '../../agents/claude/stage/stage.ts';
import { parseUser } from '../../core/host/user.ts';
import { openContentStore } from '../../core/store/content.ts';
import type { ContinuedFile } from '../../core/types/agent/claude-data.ts';
import type { CredentialSource } from '../../core/types/agent/credential.ts';
import type { ContainerSpec, Mount } from '../../core/types/engine.ts';
import type { Plan } from '../../core/types/plan.ts';
import type { Runtime } from '../../core/types/runtime.ts';
import { readSeccompProfile } from '../../engines/engine/hardening/seccomp.ts';
import { openVolume, type Place } from '../../engines/engine/place.ts';
import { type UsedCaches, useCaches } from '../../environment/caches/use-caches.ts';
import { copyPart } from '../../environment/setup/copy-part.ts';
import { BROKER_URL } from '../../network/gateway/agent-side.ts';
import { programServer } from '../../network/gateway/rules/mcp-programs.ts';
import { type Gateway, startGateway } from '../../network/gateway/start-gateway.ts';
import type { ReaderRoot } from '../../workspace/collector/container.ts';
import { sessionNote } from '../plan/session-note.ts';
import { readSecretFiles } from '../record/secrets/decoys.ts';
import { readCollected, storeDir, wasCollected } from '../record/session.ts';
import { rememberStaged } from '../record/staged-claude.ts';
import { agentContainer } from './agent-container.ts';
import { allOrFirstFailure } from './all-or-first-failure.ts';
import type { CleanupGroup, CleanupStack } from './cleanup-stack.ts';
import { credentialForSession } from './credential.ts';
import type { SessionDeps } from './deps.ts';
import { homeRoot, keptStaging, openHome } from './home/home.ts';
import { homeDecoys } from './home/home-decoys.ts';
import { openSessionPreviews } from './previews.ts';
import { findAccessories } from './servers/accessories.ts';
import { startMcpCompanions } from './servers/mcp-companions.ts';
import { startServices } from './services.ts';

/** The agent's view of the project. */
export interface AgentView {
  readonly mounts: readonly Mount[];
}

/** Parts of a session that opening its view needs. */
export interface ViewParts {
  /** The agent's home, as a root of the collector that reads it after the agent's end. */
  readonly roots: () => Promise<readonly ReaderRoot[]>;
  readonly cleanup: CleanupGroup;
}

export type OpenView<V extends AgentView> = (parts: ViewParts) => Promise<V>;

/** Everything that the agent's container needs; its program waits for the gateway. */
export interface Staged<V> {
  readonly agent: ContainerSpec;
  readonly view: V;
  readonly claude: StagedClaude;
  readonly home: Place;
  readonly gateway: Gateway;
  /** With --credentials=file. */
  readonly credential: CredentialFile | undefined;
}

/**
 * Opens the view, fills the home and begins to start the gateway, all concurrently. What was made is kept in
 * `cleanup`, also when another part fails; the first failure is thrown.
 */
export async function stage<V extends AgentView>(
  planned: Plan,
  deps: SessionDeps,
  cleanup: CleanupStack,
  openView: OpenView<V>,
): Promise<Staged<V>> {
  const seccomp = await readSeccompProfile();
  const { engine, tell } = deps;
  const { plan, programs, brokered, mcpLogins } = await findAccessories(planned, deps);
  const home = cleanup.use(await openHome(engine, plan), (place) => place.remove());
  const credential = await credentialForSession(plan, deps);
  const file = credential && (await fileOf(plan, credential));
  const group = cleanup.group();
  const caches = await useCaches(engine, plan);
  const companionTokens = await startMcpCompanions(plan, deps, seccomp, programs, group);
  // First: of all that the agent's first instruction waits for, the gateway's network takes the engine longest.
  const starting = startGateway({
    engine,
    plan,
    credential,
    env: deps.env,
    tell,
    companionTokens,
    mcpLogins,
    brokered,
  });
  const opening = openView({ roots: async () => [homeRoot(home)], cleanup: group });
  const [gateway, view, claude] = await allOrFirstFailure([
    starting.then((started) => group.use(started, (one) => one.stop())),
    opening,
    fillHome({ plan, deps, home, credential, file, caches, opening }),
    // An agent that ran before its services would fail for no reason of its own.
    startServices(plan, deps, seccomp, group),
  ]);
  group.use(await openSessionPreviews(plan, gateway, tell), (previews) => previews.close());
  const mounts = await keptMounts(plan, engine, claude);
  const kept = keptStaging(plan);
  if (kept !== undefined)
    tell({ kind: 'message', level: 'info', text: `What is staged for this run stays in ${kept}` });
  // The notes are about Claude's data, which no other program needs.
  const tellNote = (text: string): void =>
    tell(agentOf(plan.program) !== undefined ? { kind: 'message', level: 'info', text } : { kind: 'trace', text });
  claude.notes.forEach(tellNote);
  const argv = programArgv(plan.program);
  const agent = agentContainer(plan, {
    seccomp,
    argv: file === undefined ? argv : file.argv(argv),
    env: { ...caches.env, ...claude.env },
    mounts: [...view.mounts, home.mount('/home/agent', false), ...mounts, ...caches.mounts],
    gateway,
  });
  return { agent, view, claude, home, gateway, credential: file };
}

/** The conversation that an earlier run of the session left in its store. */
async function continuedFiles({ sessionDir }: Plan): Promise<readonly ContinuedFile[]> {
  if (!wasCollected(sessionDir)) return [];
  const { kept = [] } = readCollected(sessionDir).claude ?? {};
  const store = openContentStore(storeDir(sessionDir));
  return Promise.all(kept.map(async ({ path: to, digest }) => ({ path: to, content: await store.read(digest) })));
}

/** With --credentials=file: the credential as the agent finds it in its home. */
async function fileOf({ policy, program }: Plan, credential: CredentialSource): Promise<CredentialFile | undefined> {
  if (policy.credentials !== 'file') return undefined;
  return (await homeAgent(program).loadCredentials()).asFile?.(credential);
}

/** With --isolate-claude-data: the mount of the project's own volume, which outlives the session. */
async function keptMounts(plan: Plan, engine: Runtime, { instance }: StagedClaude): Promise<Mount[]> {
  if (!plan.policy.isolateClaudeData) return [];
  const { uid, gid } = parseUser(plan.user);
  const place = await openVolume(engine, {
    name: dataVolume(instance),
    dir: '',
    owner: { uid, gid },
    image: plan.ownImage ?? plan.image,
    sessionId: plan.sessionId,
    label: dataLabel(instance),
  });
  const { conversationsDir } = await homeAgent(plan.program).loadHome();
  if (conversationsDir === undefined) return [];
  return [place.mount(`/home/agent/${conversationsDir}`, false)];
}

/** Files with decoys inside: of the scan, or of the record of a session that continues. */
async function maskedOf({ plan, deps: { entering }, opening }: HomeParts): Promise<string[]> {
  const found = (await entering)?.secrets;
  // In bind mode the user may have agreed to start without masks.
  if (plan.mode === 'bind' && found?.length !== 0) await opening;
  const files = plan.mode === 'copy' ? (found ?? readSecretFiles(plan.sessionDir)) : readSecretFiles(plan.sessionDir);
  return files.flatMap(({ path: one, state }) => (state === 'masked' ? [one] : []));
}

interface HomeParts {
  readonly plan: Plan;
  readonly deps: SessionDeps;
  readonly home: Place;
  readonly credential: CredentialSource | undefined;
  readonly file: CredentialFile | undefined;
  readonly caches: UsedCaches;
  /** The agent's view of the project. */
  readonly opening: Promise<unknown>;
}

async function fillHome(parts: HomeParts): Promise<StagedClaude> {
  const { plan, deps, home, credential, file, caches } = parts;
  const { env, host } = deps;
  const { policy, project, program } = plan;
  const broker = policy.credentials === 'broker' && policy.network !== 'none';
  const agent = homeAgent(program);
  const agentHome = await agent.loadHome();
  const staged = await agentHome.stage({
    env,
    home: host.home,
    ownConfigDir: host.configDir,
    dataDir: host.dataDir,
    projectRoot: project.root,
    gitCommonDir: project.gitCommonDir,
    permissions: policy.permissions,
    ...(policy.network === 'gateway'
      ? { mcpServers: [...(policy.mcpServers ?? []), ...(policy.mcpPrograms ?? []).map(programServer)] }
      : {}),
    workdir: path.posix.join('/workspace', project.startIn),
    ...(broker ? { placeholder: agent.broker.placeholder(credential?.kind) } : {}),
    credentialFile: file,
    credential,
    brokerUrl: broker ? BROKER_URL : undefined,
    isolate: policy.isolateClaudeData,
    ...(policy.profile === undefined ? {} : { profile: policy.profile }),
    conversation: namedConversation(program),
    continued: await continuedFiles(plan),
    sessionNote: sessionNote({ ...plan, masked: await maskedOf(parts) }),
  });
  await rememberStaged(plan.sessionDir, staged);
  const decoys = homeDecoys(plan.sessionDir, [...staged.entries, ...caches.homeEntries]);
  await home.fill([...staged.entries, ...decoys]);
  if (caches.homeEntries.length > 0) await home.fill(caches.homeEntries);
  // What is staged stays: the setup's files are added to it. Agents' data in them would come back as the session's own.
  await copyPart(deps.engine, plan, 'home', (target) => home.mount(target, false), AGENT_HOME_PATHS);
  return staged;
}
