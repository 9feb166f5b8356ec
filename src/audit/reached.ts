import { decodeBytes } from '../types/path.ts';
import type { Hit, Scene } from './input.ts';

/** Files whose commands and includes lead to other files of the project. */
const REFERRERS =
  /(^|\/)(package\.json|makefile|gnumakefile|[^/]*\.mk|\.envrc|justfile|taskfile\.ya?ml|lefthook\.ya?ml|\.pre-commit-config\.yaml|\.gitlab-ci\.yml|jenkinsfile|\.mcp\.json|\.claude\/settings(\.local)?\.json|\.vscode\/tasks\.json|gemfile|dockerfile|tox\.ini|pyproject\.toml|noxfile\.py|build\.gradle(\.kts)?|cmakelists\.txt|configure\.ac|\.husky\/[^/]+|\.githooks\/[^/]+)$|(^|\/)\.(github\/(workflows|actions)|circleci|buildkite)\/.*\.ya?ml$/i;
/** A word that makes the next one run or be read as the caller itself is. */
const RUNS =
  /(?:^|[\s"'`(;|&=@+-])(?:(?:ba|z|da|k)?sh|source|source_env|source_env_if_exists|dotenv|dotenv_if_exists|watch_file|\.|node|deno run|bun|tsx|ts-node|python[0-9.]*|ruby|perl|php|exec|-?include|sinclude|eval_gemfile|load|import|!include|apply from:|-f|--file|-r|--require|-c|--config|entry:|run:|command:|script:|uses:)[\s"':=(]+((?:\.\/)?[\w@][\w@./-]{0,200})/gi;
const DIRECT = /(?:^|[\s"'`(;|&=@+])(\.\/[\w@][\w@./-]{0,200})/g;
const MOST_REFERRERS = 400;
const LARGEST = 1 << 20;

/** Changed files that a configuration of the project runs or includes by path, however they are called. */
export function reachedHits(scene: Scene): Hit[] {
  const named = new Map<string, string>();
  let looked = 0;
  const look = (path: string, bytes: Buffer | 'unreadable' | undefined): void => {
    if (!REFERRERS.test(path) || !Buffer.isBuffer(bytes) || bytes.length > LARGEST || looked >= MOST_REFERRERS) return;
    looked += 1;
    const dir = path.includes('/') ? path.slice(0, path.lastIndexOf('/') + 1) : '';
    const text = decodeBytes(bytes);
    for (const regex of [RUNS, DIRECT]) {
      for (const match of text.matchAll(regex)) {
        const word = (match[1] ?? '').replace(/^\.\//, '').replace(/[./]+$/, '');
        if (word === '') continue;
        if (!named.has(word)) named.set(word, path);
        if (!named.has(dir + word)) named.set(dir + word, path);
      }
    }
  };
  for (const change of scene.input.changes) look(change.path, scene.bytes(change.before) ?? scene.bytes(change.after));
  for (const path of scene.input.base?.paths ?? [])
    if (!scene.byPath.has(path)) look(path, REFERRERS.test(path) ? scene.input.base?.read(path) : undefined);
  const hits: Hit[] = [];
  for (const change of scene.input.changes) {
    const by = named.get(change.path);
    if (by === undefined || by === change.path || change.ignored === true || change.after?.kind === 'dir') continue;
    hits.push({
      rule: 'reached',
      severity: 'suspect',
      path: change.path,
      title: 'A file that the project runs by name',
      why: 'A build, hook or CI file that you have runs or includes it.',
      detail: by,
    });
  }
  return hits;
}
