import { anyOf, oneOf, pattern } from '../formats/words.ts';

const SOURCE_FOLDERS = oneOf`
  src lib libs app apps server client source pages components routes public examples? docs? tests? __tests__ specs? e2e
  fixtures assets node_modules vendor third_party \.?venv site-packages dist out
`;
const APPLICATION = anyOf(
  pattern('i')`(?:^|\/)(?:${SOURCE_FOLDERS})\/`,
  /^(?:(?:packages|services|modules)\/[^/]+\/)?(?:index|main|server|app|cli|manage|wsgi|asgi)\.\w+$/i,
  /[._-](?:test|spec)\.\w+$|(?:^|\/)(?:test_[^/]*|[^/]*_test|conftest)\.py$/i,
);

/**
 * Whether a path is of the application itself, its tests, or code that is installed: a build may import a part of it, but
 * what that imports is ordinary source, which runs wherever the application does.
 */
export const isApplication = (path: string): boolean => APPLICATION.test(path);
