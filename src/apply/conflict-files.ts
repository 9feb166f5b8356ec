import type { ChangeOutcome } from '../types/session.ts';
import type { ApplyRequest } from './apply-changes.ts';
import { fingerprintHost } from './disk/host-entry.ts';
import type { HostWalker } from './disk/host-path.ts';
import { isOnePath, reasonOf } from './disk/run-steps.ts';
import type { Step } from './disk/steps.ts';

interface ConflictFiles {
  readonly request: ApplyRequest;
  readonly outcomes: ChangeOutcome[];
  readonly walker: HostWalker;
  /** Whether the session's version of a conflict at this path is to be written beside the host's. */
  readonly isChosen: (path: string) => boolean;
}

/**
 * `--conflict=file`: the session's version of each conflicting file, beside the host's as `NAME.session`; only where
 * that name is free. The conflict itself stays pending; its reason in `outcomes` then says where to look.
 */
export function conflictFileSteps({ request, outcomes, walker, isChosen }: ConflictFiles): Step[] {
  const steps: Step[] = [];
  for (const [at, outcome] of outcomes.entries()) {
    if (!isChosen(outcome.path)) continue;
    const after = request.choice.chosen.find(({ change }) => change.path === outcome.path)?.change.after;
    if (outcome.verdict !== 'conflict' || after?.kind !== 'file' || after.digest === undefined) continue;
    const path = `${outcome.path}.session`;
    const hindrance = hindranceAt(walker, path);
    if (hindrance !== undefined) {
      outcomes[at] = { ...outcome, why: `${outcome.why}; ${hindrance}` };
      continue;
    }
    steps.push({
      path,
      post: { kind: 'file', mode: after.mode & 0o666 & ~process.umask(), digest: after.digest, size: after.size },
    });
    outcomes[at] = { ...outcome, why: `${outcome.why}; the session's version is ${path}` };
  }
  return steps;
}

/** Why nothing can be put there; undefined where it can. */
function hindranceAt(walker: HostWalker, path: string): string | undefined {
  try {
    return fingerprintHost(walker, path) === undefined ? undefined : `${path} is there already`;
  } catch (error) {
    if (!isOnePath(error)) throw error;
    return `nothing beside it: ${reasonOf(error)}`;
  }
}
