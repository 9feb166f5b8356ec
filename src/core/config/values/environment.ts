import { usageError } from '../../errors.ts';
import { isDotGitName } from '../../git/names.ts';
import type { Environment } from '../../types/setup/environment.ts';
import type { EnvironmentTable } from '../tables/environment.ts';
import { FEATURES, isFeature } from '../tables/features.ts';
import { resolveVariables } from './variables.ts';

/**
 * Debian's rule for names (Debian Policy 5.6.1). apt reads a name that ends with `-` as one to remove, and `=`, `/`, `:`
 * and `^` choose versions, releases, architectures and tasks.
 */
const PACKAGE_NAME = /^[a-z0-9][a-z0-9+.-]{0,62}[a-z0-9+.]$/;
export const isPackageName = (name: string): boolean => PACKAGE_NAME.test(name);
/** The user reads all of a request before the answer. */
export const MAX_VARIABLES = 100;
export const MAX_VARIABLE_CHARACTERS = 1000;

/**
 * The environment that a table of a file describes. `where` names the table in messages.
 *
 * @throws {RunClaudeError} USAGE for a value that is not allowed
 */
export function readEnvironment(table: EnvironmentTable, where: string): Environment {
  for (const name of table.packages) {
    if (!isPackageName(name))
      throw usageError(`${where}: packages: '${name}' is not the name of a Debian package`, 'Write the name alone.');
  }
  for (const file of table.files) {
    if (!isProjectPath(file))
      throw usageError(
        `${where}: files: '${file}' is not a path in the project`,
        'Write it relative to the top of the project, without . and .. components.',
      );
  }
  if (table.files.length > 0 && table.setup === undefined)
    throw usageError(`${where}: files without setup`, 'files are what setup reads: add setup, or leave files out.');
  if (table.setup?.includes('\0') === true) throw usageError(`${where}: setup has a NUL character`);
  const variables = Object.entries(table.env);
  if (variables.length > MAX_VARIABLES) throw usageError(`${where}: env has more than ${MAX_VARIABLES} variables`);
  const long = variables.find(([name, value]) => name.length + value.length > MAX_VARIABLE_CHARACTERS);
  if (long !== undefined)
    throw usageError(`${where}: env: ${long[0].slice(0, 100)} is longer than ${MAX_VARIABLE_CHARACTERS} characters`);
  const words = variables.map(([name, value]) => `${name}=${value}`);
  const own: Environment = {
    packages: [...new Set(table.packages)].sort(),
    setup: table.setup,
    env: resolveVariables(words, {}, `${where}: env`),
    files: [...new Set(table.files)].sort(),
  };
  return withFeatures(own, table.with, `${where}: with`);
}

/**
 * The environment with the packages and variables of these features.
 *
 * @throws {RunClaudeError} USAGE for an unknown feature
 */
export function withFeatures(
  environment: Environment | undefined,
  names: readonly string[],
  where: string,
): Environment {
  const features = names.map((name) => {
    if (isFeature(name))
      return { packages: FEATURES[name].packages, setup: undefined, env: FEATURES[name].env, files: [] };
    throw usageError(`${where}: '${name}' is not allowed`, `Write one of: ${Object.keys(FEATURES).join(', ')}.`);
  });
  return [...features, ...(environment === undefined ? [] : [environment])].reduce(joinEnvironments, EMPTY_ENVIRONMENT);
}

/** An environment that adds nothing. */
export const EMPTY_ENVIRONMENT: Environment = { packages: [], setup: undefined, env: {}, files: [] };

/** Both environments as one: lists are joined, a variable of the second wins, and its setup runs after the first. */
export function joinEnvironments(first: Environment, second: Environment): Environment {
  const setups = [first.setup, second.setup].filter((one) => one !== undefined);
  const union = (a: readonly string[], b: readonly string[]): readonly string[] => [...new Set([...a, ...b])].sort();
  return {
    packages: union(first.packages, second.packages),
    setup: setups.length === 0 ? undefined : setups.join('\n'),
    env: { ...first.env, ...second.env },
    files: union(first.files, second.files),
  };
}

/** Whether it adds nothing to a session. */
export function isEmptyEnvironment({ packages, setup, env }: Environment): boolean {
  return packages.length === 0 && setup === undefined && Object.keys(env).length === 0;
}

/** Whether a path of a file names something below the top of the project. */
export function isProjectPath(file: string): boolean {
  const parts = file.split('/');
  return (
    !/[\0-\x1f\x7f\\]/.test(file) &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..' && !isDotGitName(part))
  );
}
