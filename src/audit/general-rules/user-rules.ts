import type { Change } from '../../core/types/entry.ts';
import type { UserRule } from '../../core/types/policy.ts';
import { userGlobs } from '../formats/glob.ts';
import type { Found, GeneralRule } from './rule.ts';

/** A rule of the user: any change of its files is a finding. */
export function ruleOfUser({ id, paths, severity, why }: UserRule): GeneralRule {
  const isNamed = userGlobs(paths);
  const isOfRule = ({ ignored, path }: Change): boolean => ignored !== true && isNamed(path);
  return {
    id,
    title: 'Match of one of your rules',
    family: 'yours',
    when: 'whatever uses the file',
    severity,
    files: paths,
    look: [
      { kind: 'together', see: ({ input }) => input.changes.filter(isOfRule).map(({ path }): Found => ({ path })) },
    ],
    about: 'any change',
    why,
    source: 'your configuration',
  };
}
