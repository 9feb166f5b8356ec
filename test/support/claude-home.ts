import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Scene } from './scene.ts';

/** Fills the user's `~/.claude`, also with other projects' data and a login. Returns its path. */
export function fillClaude(scene: Scene): string {
  const top = path.join(scene.home, '.claude');
  const write = (name: string, text: string): void => {
    mkdirSync(path.dirname(path.join(top, name)), { recursive: true });
    writeFileSync(path.join(top, name), text);
  };
  write('settings.json', '{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"touch HOST"}]}]}}');
  write('CLAUDE.md', 'The person’s own words.\n');
  write('skills/mine/SKILL.md', '---\nname: mine\n---\nhello\n');
  write('projects/-other-project/99999999-2222-4333-8444-555555555555.jsonl', 'SECRET-OF-ANOTHER-PROJECT\n');
  write('history.jsonl', '{"display":"SECRET-OF-ANOTHER-PROJECT","project":"/other/project","timestamp":1}\n');
  writeFileSync(
    path.join(scene.home, '.claude.json'),
    '{"userID":"WHO-I-AM","projects":{"/other/project":{"allowedTools":["SECRET-OF-ANOTHER-PROJECT"]}}}',
  );
  return top;
}

/** A digest of every name, kind, mode and byte of the user's home. */
export function homeFingerprint(scene: Scene): string {
  const script = `find . -printf '%y %m %l %p\\n' | LC_ALL=C sort; find . -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum`;
  return execFileSync('sh', ['-c', script], { cwd: scene.home, encoding: 'utf8' });
}

/** Directories of the projects' own data. */
export function instances(scene: Scene): string[] {
  const top = path.join(scene.root, 'data', 'run-claude', 'projects');
  return existsSync(top) ? readdirSync(top).map((name) => path.join(top, name)) : [];
}
