import { decodeBytes } from '../types/path.ts';
import { isJudgedByContent } from './files.ts';
import type { Hit, Scene } from './input.ts';

/** Files whose commands and includes lead to other files of the project. */
const REFERRERS =
  /(^|\/)(package\.json|makefile|gnumakefile|[^/]*\.mk|\.envrc|justfile|taskfile\.ya?ml|lefthook\.ya?ml|\.pre-commit-config\.yaml|\.gitlab-ci\.yml|jenkinsfile|\.mcp\.json|\.claude\/settings(\.local)?\.json|\.vscode\/tasks\.json|gemfile|dockerfile|tox\.ini|pyproject\.toml|noxfile\.py|build\.gradle(\.kts)?|cmakelists\.txt|configure\.ac|\.husky\/[^/]+|\.githooks\/[^/]+)$|(^|\/)\.(github\/(workflows|actions)|circleci|buildkite)\/.*\.ya?ml$/i;
/** A word that makes the next one run or be read as the caller itself is. */
const RUNS =
  /(?:^|[\s"'`(;|&=@+-])(?:(?:ba|z|da|k)?sh|source|source_env|source_env_if_exists|dotenv|dotenv_if_exists|watch_file|\.|node|deno run|bun|tsx|ts-node|python[0-9.]*|ruby|perl|php|exec|-?include|sinclude|eval_gemfile|load|import|!include|apply from:|-f|--file|-r|--require|-c|--config|entry:|run:|command:|script:|uses:)[\s"':=(]+((?:\.\/)?[\w@][\w@./-]{0,200})/gi;
const DIRECT = /(?:^|[\s"'`(;|&=@+])(\.\/[\w@][\w@./-]{0,200})/g;
/** Of those that the session made or changed; what the project had is always looked at. */
const MOST_REFERRERS = 400;
const LARGEST = 1 << 20;

/** Folders of installed code: what their files name is their own matter. */
const INSTALLED = /(^|\/)(node_modules|vendor|third_party|\.venv|venv|\.tox|\.nox|site-packages)\//i;

/** Whether the audit follows what a file of the base names: its content should be at hand. */
export function wantsBaseContent(path: string): boolean {
  return REFERRERS.test(path) && !INSTALLED.test(path);
}

/** Changed files that a configuration of the project runs or includes by path, however they are called. */
export function reachedHits(scene: Scene): Hit[] {
  const named = new Map<string, string>();
  const look = (path: string, bytes: Buffer | 'unreadable' | undefined): void => {
    if (!wantsBaseContent(path) || !Buffer.isBuffer(bytes) || bytes.length > LARGEST) return;
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
  for (const path of scene.input.base?.paths ?? [])
    if (wantsBaseContent(path) && !scene.byPath.has(path)) look(path, scene.input.base?.read(path));
  const changed = scene.input.changes.filter(({ path, ignored }) => ignored !== true && wantsBaseContent(path));
  for (const change of changed) look(change.path, scene.bytes(change.before));
  for (const change of changed.slice(0, MOST_REFERRERS)) look(change.path, scene.bytes(change.after));
  const hits: Hit[] = [];
  for (const change of scene.input.changes) {
    const by = named.get(change.path);
    if (by === undefined || by === change.path || change.ignored === true || change.after?.kind === 'dir') continue;
    // Pinned versions in a list of requirements, say: the rule for such files knows what in them counts.
    if (isJudgedByContent(change.path)) continue;
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
