import path from 'node:path';
import { usageError } from '../../core/errors.ts';
import { openGitObjects } from '../../review/commits/git-objects.ts';
import type { CommandContext } from '../context/context.ts';
import { readPolicy } from '../policy/read-policy.ts';
import type { AskedChanges } from './changes-of.ts';
import { auditPullRequest } from './platforms/audit-pull-request.ts';
import { readInput } from './read-input.ts';
import { auditCommits } from './sources/commits.ts';
import { likelyBase } from './sources/head.ts';
import { auditPatch } from './sources/patch.ts';
import { auditPushed, parsePushedRefs } from './sources/pushed.ts';
import type { AuditedSource, SourceRequest } from './sources/source.ts';
import { auditStaged } from './sources/staged.ts';

type AskedSource = Exclude<AskedChanges, { kind: 'session' }>;

/** Audits what was asked for. Of a push there is one result for each ref, and none where it changes nothing. */
export async function auditedSources(asked: AskedSource, context: CommandContext): Promise<readonly AuditedSource[]> {
  const request = sourceRequest(asked.folder, context);
  if (asked.kind === 'pull-request') return [await auditPullRequest(request, asked.named)];
  if (asked.kind === 'staged') return [await auditStaged(request, indexOfHook(context))];
  if (asked.kind === 'patch') return [await auditPatch(request, await readInput(asked.file, 'the patch'))];
  if (asked.kind === 'pushed') return auditPushed(request, await pushedRefs(context), asked.remote);
  return [await auditCommits(request, asked.ends ?? [await baseOf(asked.folder, context), 'HEAD'])];
}

function sourceRequest(folder: string, context: CommandContext): SourceRequest {
  const { env, tell, interruption } = context;
  let warned = false;
  return {
    folder,
    env,
    tell,
    signal: interruption.signal,
    policyWith: async (projectFiles) => {
      const { policy, warnings } = await readPolicy(folder, [], context, { projectFiles });
      if (!warned) for (const text of warnings) tell({ kind: 'message', level: 'warning', text });
      warned = true;
      return policy;
    },
  };
}

async function baseOf(folder: string, { env }: CommandContext): Promise<string> {
  const base = await likelyBase(openGitObjects(folder, env));
  if (base === undefined)
    throw usageError(
      `audit ${folder}: no base to compare with`,
      `Write run-claude audit ${folder} --base main, or --staged.`,
    );
  return base;
}

/** git commits another index than the repository's own for `git commit -a` and `git commit FILE`, and says so to hooks. */
function indexOfHook({ env, cwd }: CommandContext): string | undefined {
  const { GIT_INDEX_FILE: named = '' } = env;
  return named === '' ? undefined : path.resolve(cwd, named);
}

/** What git tells a pre-push hook. The program pre-commit reads that itself, and passes it on in variables. */
async function pushedRefs({ env }: CommandContext) {
  const { PRE_COMMIT_FROM_REF: from = '', PRE_COMMIT_TO_REF: to = '' } = env;
  if (from !== '' && to !== '')
    return parsePushedRefs(
      `${env['PRE_COMMIT_LOCAL_BRANCH'] ?? 'HEAD'} ${to} ${env['PRE_COMMIT_REMOTE_BRANCH'] ?? 'HEAD'} ${from}\n`,
    );
  return parsePushedRefs((await readInput('-', 'what git writes to a pre-push hook')).toString());
}
