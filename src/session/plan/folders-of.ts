import type { Plan } from '../../core/types/plan.ts';

/** Real paths of the folders that a session is about: the project's, then those of `--also`. */
export function foldersOf({ project, also = [] }: Pick<Plan, 'project' | 'also'>): readonly string[] {
  return [project, ...also.map((folder) => folder.project)].map(({ root }) => root);
}
