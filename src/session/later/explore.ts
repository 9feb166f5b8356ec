import { agentSpec } from '../../engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../engine/hardening/seccomp.ts';
import { removeContainers } from '../../engine/remove-containers.ts';
import { parseUser } from '../../host/user.ts';
import { openThrowAway } from '../../layer/scratch-layer.ts';
import { withLayer } from '../../record/layer-lock.ts';
import type { SessionRecord } from '../../types/session.ts';
import { programArgv } from '../start/agent-container.ts';
import type { SessionDeps } from '../start/deps.ts';
import { launch } from '../start/launch.ts';
import { prepareImage } from '../start/prepare-image.ts';
import { openScope } from '../start/scope.ts';
import { withProgram } from './resume-plan.ts';

/**
 * A shell on what a session left, in a layer that is thrown away with it: no network, no credential, no home of the
 * session's. Gives the shell's exit status. Throws as withLayer does, and what the engine throws.
 */
export async function exploreSession(record: SessionRecord, deps: SessionDeps): Promise<number> {
  return withLayer(record, 'exploring it', async () => {
    const { host, tell } = deps;
    // Not the session's own program: that of `-p` gets no input from a terminal.
    const plan = withProgram(record.plan, { kind: 'shell', args: [] }, { host, term: deps.env['TERM'] });
    await prepareImage(plan, deps);
    // Of a command that was killed: its shell would hold the view, and its name.
    await removeContainers(deps.engine, record.id);
    const scope = openScope(tell);
    try {
      const view = scope.use(await openThrowAway({ plan, engine: deps.engine, tell }, record.workspace), (opened) =>
        opened.close(),
      );
      const what = view.writable ? 'What you change in it is thrown away at the end.' : 'It is read-only.';
      tell({ kind: 'message', level: 'info', text: `What session ${record.id} left, without network. ${what}` });
      const { uid, gid } = parseUser(plan.user);
      const spec = agentSpec({
        sessionId: plan.sessionId,
        image: plan.image,
        seccomp: await readSeccompProfile(),
        runtime: plan.policy.runtime,
        user: plan.user,
        argv: programArgv(plan),
        forwards: [],
        env: plan.env,
        workdir: '/workspace',
        mounts: [
          ...view.mounts,
          { kind: 'tmpfs', target: '/home/agent', sizeMb: 64, mode: 0o700, noexec: false, uid, gid },
        ],
        network: 'none',
        limits: plan.policy,
        tty: plan.tty,
        stdin: 'stream',
      });
      const shell = scope.use(await deps.engine.create(spec), (container) => container.remove());
      const policy = { ...plan.policy, timeoutMs: undefined };
      const { status, neverRan } = await launch(shell, { ...plan, policy }, deps);
      if (neverRan !== undefined) throw neverRan;
      return status;
    } finally {
      await scope.close();
    }
  });
}
