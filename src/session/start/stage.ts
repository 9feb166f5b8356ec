import path from 'node:path';
import { type CredentialFile, credentialFile } from '../../claude/credentials/credential-file.ts';
import { claudeConfigDir, findCredential } from '../../claude/credentials/credentials.ts';
import { dataLabel, dataVolume, ISOLATED_DIR } from '../../claude/instances/isolated.ts';
import { type StagedClaude, stageClaude } from '../../claude/stage/stage.ts';
import type { ReaderRoot } from '../../collector/container.ts';
import { readSeccompProfile } from '../../engine/hardening/seccomp.ts';
import { openVolume, type Place } from '../../engine/place.ts';
import { usageError } from '../../errors.ts';
import { placeholderOf } from '../../gateway/agent-side.ts';
import { type Gateway, startGateway } from '../../gateway/start-gateway.ts';
import { parseUser } from '../../host/user.ts';
import { namedConversation } from '../../plan/claude-words.ts';
import { rememberStaged } from '../../record/staged-claude.ts';
import type { CredentialSource, Secret } from '../../types/credential.ts';
import type { ContainerSpec, Engine, Mount } from '../../types/engine.ts';
import type { Plan } from '../../types/plan.ts';
import { agentContainer, programArgv } from './agent-container.ts';
import type { SessionDeps } from './deps.ts';
import { homeRoot, keptStaging, openHome } from './home.ts';
import type { Scope } from './scope.ts';

/** Everything that the agent's container stands on; its program waits for the gateway. */
export interface Staged<W> {
  readonly agent: ContainerSpec;
  readonly workspace: W;
  readonly claude: StagedClaude;
  readonly home: Place;
  readonly gateway: Gateway;
  /** With --credentials=file. */
  readonly credential: CredentialFile | undefined;
}

/**
 * Opens the workspace, fills the home and begins to start the gateway, side by side. What was made is kept in `scope`,
 * also when another part fails; the first failure is thrown.
 */
export async function stage<W extends { readonly mounts: readonly Mount[] }>(
  plan: Plan,
  deps: SessionDeps,
  scope: Scope,
  openIt: (roots: readonly ReaderRoot[], scope: Pick<Scope, 'use'>) => Promise<W>,
): Promise<Staged<W>> {
  const seccomp = await readSeccompProfile();
  const { engine, tell } = deps;
  const home = scope.use(await openHome(engine, plan), (place) => place.remove());
  const credential = await credentialOf(plan, deps);
  const file = plan.policy.credentials === 'file' && credential ? credentialFile(credential) : undefined;
  const beside = scope.beside();
  const parts = await allOrFirstFailure([
    // First: the longest of all ways to the agent's first instruction is the engine's, by the network to the gateway.
    startGateway({ engine, plan, credential, env: deps.env, tell }).then((started) =>
      beside.use(started, (gateway) => gateway.stop()),
    ),
    openIt([homeRoot(home)], beside),
    fillHome({ plan, deps, home, kind: credential?.kind, file }),
  ]);
  const [gateway, workspace, claude] = parts;
  const mounts = await keptMounts(plan, engine, claude);
  const kept = keptStaging(plan);
  if (kept !== undefined)
    tell({ kind: 'message', level: 'info', text: `What is staged for this run stays in ${kept}` });
  // What another program runs without does not concern whoever started it.
  const tellNote = (text: string): void =>
    tell(plan.program.kind === 'claude' ? { kind: 'message', level: 'info', text } : { kind: 'trace', text });
  claude.notes.forEach(tellNote);
  const argv = programArgv(plan);
  const agent = agentContainer(plan, {
    seccomp,
    argv: file === undefined ? argv : file.argv(argv),
    env: claude.env,
    mounts: [...workspace.mounts, home.mount('/home/agent', false), ...mounts],
    gateway,
  });
  return { agent, workspace, claude, home, gateway, credential: file };
}

/** The person's own, as the policy wants it. Throws what finding and refreshing throw. */
export async function credentialOf(plan: Plan, deps: SessionDeps): Promise<CredentialSource | undefined> {
  if (plan.policy.credentials === 'none') return undefined;
  const { env, host } = deps;
  const found = await findCredential({ env, home: host.home, platform: host.platform });
  if (plan.policy.credentials === 'file' && found?.cloud !== undefined)
    throw usageError(
      `--credentials=file: not with ${found.name}`,
      'The broker signs for Bedrock and Vertex AI. To hand cloud keys to the agent: --credentials=none --env NAME --allow-host HOST.',
    );
  if (plan.policy.freshCreds && found?.fixed !== true) await found?.refresh();
  return found;
}

/** With --isolate-claude-data: the engine volume that stays with the project. */
async function keptMounts(plan: Plan, engine: Engine, { instance }: StagedClaude): Promise<Mount[]> {
  if (!plan.policy.isolateClaudeData) return [];
  const { uid, gid } = parseUser(plan.user);
  const place = await openVolume(engine, {
    name: dataVolume(instance),
    dir: '',
    owner: { uid, gid },
    image: plan.image,
    sessionId: plan.sessionId,
    label: dataLabel(instance),
  });
  return [place.mount(`/home/agent/${ISOLATED_DIR}`, false)];
}

interface HomeParts {
  readonly plan: Plan;
  readonly deps: SessionDeps;
  readonly home: Place;
  /** Of the credential; undefined without one. */
  readonly kind: Secret['kind'] | undefined;
  readonly file: CredentialFile | undefined;
}

async function fillHome({ plan, deps, home, kind, file }: HomeParts): Promise<StagedClaude> {
  const { env, host } = deps;
  const { policy, project, program } = plan;
  const broker = policy.credentials === 'broker' && policy.network !== 'none';
  const staged = await stageClaude({
    env,
    home: host.home,
    configDir: claudeConfigDir(env, host.home),
    ownConfigDir: host.configDir,
    dataDir: host.dataDir,
    projectRoot: project.root,
    gitCommonDir: project.gitCommonDir,
    permissions: policy.permissions,
    workdir: path.posix.join('/workspace', project.startIn),
    ...(broker ? { placeholder: placeholderOf(kind) } : {}),
    ...(file === undefined ? {} : { settings: file.settings, links: file.link === undefined ? [] : [file.link] }),
    isolate: policy.isolateClaudeData,
    ...(policy.profile === undefined ? {} : { profile: policy.profile }),
    conversation: program.kind === 'claude' ? namedConversation(program.args) : undefined,
  });
  await rememberStaged(plan.sessionDir, staged);
  await home.fill(staged.entries);
  return staged;
}

/** As Promise.all, but waits for the others to settle, so that what they made is in the scope before it is closed. */
async function allOrFirstFailure<T extends readonly Promise<unknown>[]>(
  parts: readonly [...T],
): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  const settled = await Promise.allSettled(parts);
  for (const part of settled) if (part.status === 'rejected') throw part.reason;
  return (await Promise.all(parts)) as { [K in keyof T]: Awaited<T[K]> };
}
