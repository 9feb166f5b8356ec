import { allRules, blockingRules } from '../../audit/catalogue.ts';
import type { FileSettings } from '../../core/config/config-file.ts';
import { nearest } from '../../core/config/values/nearest.ts';
import { usageError } from '../../core/errors.ts';
import { cleanLine } from '../../terminal/clean.ts';

/** The part of a file that sets severities, and the ids of rules that other files add. */
interface SeverityTable {
  readonly where: string;
  readonly settings: Pick<FileSettings, 'auditRules' | 'auditSeverities'>;
  /** A project's file: a value that lowers is ignored with a warning, whatever the rule. */
  readonly isProject: boolean;
}

/**
 * Refuses severities that would change nothing: of a rule that does not exist, and one below `blocked` for a rule whose
 * every finding is blocked.
 *
 * @throws {RunClaudeError} USAGE with the nearest id
 */
export function checkSeverities(tables: readonly SeverityTable[]): void {
  const own = tables.flatMap(({ settings }) => settings.auditRules);
  const known = new Set([...allRules(), ...own].map(({ id }) => id));
  const blocking = new Set([
    ...blockingRules(),
    ...own.filter((one) => one.severity === 'blocked').map(({ id }) => id),
  ]);
  for (const { where, settings, isProject } of tables)
    for (const [id, severity] of Object.entries(settings.auditSeverities)) {
      const name = cleanLine(`${where}: audit.severities: ${id}`);
      if (!known.has(id)) throw usageError(`${name} is not the id of a rule`, hintFor(id, known));
      if (blocking.has(id) && severity !== 'blocked' && !isProject)
        throw usageError(
          `${name} = "${severity}" has no effect: this rule blocks, and no setting lowers it`,
          'Remove the line. What a rule blocks stays in the session: run-claude explore.',
        );
    }
}

function hintFor(id: string, known: Iterable<string>): string {
  const near = nearest(id, known);
  return near === undefined ? 'run-claude audit --rules lists the ids.' : `Did you mean ${near}?`;
}
