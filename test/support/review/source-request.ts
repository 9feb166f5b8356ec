import type { SourceRequest } from '../../../src/cli/audit/sources/source.ts';
import { readPolicy } from '../../../src/cli/policy/read-policy.ts';
import type { GitScene } from './git-scene.ts';

/** A request as the command makes it. */
export function requestOf(scene: GitScene): SourceRequest {
  return {
    folder: scene.repo,
    env: scene.env,
    policyWith: async (projectFiles) => (await readPolicy(scene.repo, [], scene.context(), { projectFiles })).policy,
  };
}
