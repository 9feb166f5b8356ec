import { programArgv } from '../../agents/agents.ts';
import { parseUser } from '../../core/host/user.ts';
import type { SessionRecord } from '../../core/types/session.ts';
import { removeContainers } from '../../engines/engine/containers/remove-containers.ts';
import { agentSpec } from '../../engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../engines/engine/hardening/seccomp.ts';
import { serviceDoors } from '../../environment/services/places.ts';
import { openScratchLayer } from '../../workspace/layer/strategies.ts';
import { launch } from '../launch/launch.ts';
import { withLayer } from '../record/layer-lock.ts';
import { openCleanupStack } from '../stage/cleanup-stack.ts';
import type { SessionDeps } from '../stage/deps.ts';
import { prepareImage } from '../stage/prepare-image.ts';
import { startServices } from '../stage/services.ts';
import { withProgram } from './resume-plan.ts';

/**
 * Runs a shell on a session's changes, in a scratch layer that is removed at the end: with the session's services, and
 * without network, credential and the session's home. Returns the shell's exit status. Throws what withLayer and the engine throw.
 */
export async function exploreSession(record: SessionRecord, deps: SessionDeps): Promise<number> {
  return withLayer(record, 'exploring it', async () => {
    const { host, tell } = deps;
    // Not with the session's own program: `claude -p` gets no input from a terminal.
    const plan = withProgram(record.plan, { kind: 'shell', args: [] }, { host, term: deps.env['TERM'] });
    await prepareImage(plan, deps);
    // The shell of a command that was killed would still use the layer and the container's name.
    await removeContainers(deps.engine, record.id);
    const cleanup = openCleanupStack(tell);
    try {
      const view = cleanup.use(
        await openScratchLayer({ plan, engine: deps.engine, tell }, record.workspace),
        (opened) => opened.close(),
      );
      const access = view.writable ? 'What you change here is removed at the end.' : 'It is read-only.';
      tell({ kind: 'message', level: 'info', text: `The files of session ${record.id}, without network. ${access}` });
      const { uid, gid } = parseUser(plan.user);
      const seccomp = await readSeccompProfile();
      await startServices(plan, deps, seccomp, cleanup.group());
      const services = serviceDoors(plan);
      const spec = agentSpec({
        sessionId: plan.sessionId,
        image: plan.image,
        seccomp,
        runtime: plan.policy.runtime,
        user: plan.user,
        umask: plan.umask,
        argv: programArgv(plan.program),
        forwards: services.forwards,
        env: plan.env,
        workdir: '/workspace',
        mounts: [
          ...view.mounts,
          ...services.mounts,
          { kind: 'tmpfs', target: '/home/agent', sizeMb: 64, mode: 0o700, noexec: false, uid, gid },
        ],
        network: 'none',
        ...(services.names.length === 0 ? {} : { loopbackNames: services.names }),
        limits: plan.policy,
        tty: plan.tty,
        stdin: 'stream',
      });
      const shell = cleanup.use(await deps.engine.create(spec), (container) => container.remove());
      const policy = { ...plan.policy, timeoutMs: undefined };
      const launched = await launch(shell, { ...plan, policy }, deps);
      if (launched.kind === 'start-failed') throw launched.error;
      return launched.status;
    } finally {
      await cleanup.close();
    }
  });
}
