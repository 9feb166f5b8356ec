// A session of the real Claude Code on a sample project, its model a script on this machine's loopback. Called by
// scripts/try.sh after the build. Everything is in a temporary directory that is removed at the end.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { TURNS, writeSample } from './sample-session.mjs';

const root = path.dirname(import.meta.dirname);
/** Undecided and held back: answers, not failures. Changes are left in the session. */
const PENDING = [120, 121];
const say = (text = '') => process.stderr.write(`[try] ${text}\n`);

/** Starts the scripted model; its URL is the first line that it prints. */
function startModel(dir) {
  const script = path.join(dir, 'turns.json');
  writeFileSync(script, JSON.stringify(TURNS));
  const program = path.join(root, 'test/support/stand-in/messages-api.mjs');
  const child = spawn(process.execPath, [program, '--script', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
      if (said.includes('\n')) resolve({ url: said.split('\n')[0].trim(), stop: () => child.kill() });
    });
    child.on('error', reject);
    child.on('exit', (status) => reject(new Error(`the scripted model ended with status ${status}`)));
  });
}

function hasCredentials() {
  const { ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, CLAUDE_CODE_OAUTH_TOKEN } = process.env;
  if (ANTHROPIC_API_KEY || ANTHROPIC_AUTH_TOKEN || CLAUDE_CODE_OAUTH_TOKEN) return true;
  try {
    return readFileSync(path.join(homedir(), '.claude/.credentials.json')).length > 0;
  } catch {
    return false;
  }
}

/** The engine may have left files of root in it. Then it is reported. */
function removeTrial(dir) {
  try {
    rmSync(dir, { recursive: true, force: true });
  } catch (error) {
    say(`Not removed: ${dir} (${error.code})`);
  }
}

// The session handles Ctrl-C. Its result is shown and removed here.
for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => undefined);
const dir = mkdtempSync(path.join(tmpdir(), 'run-claude-try-'));
const project = path.join(dir, 'greeter');
let status = 1;
try {
  writeSample(project);
  const model = await startModel(dir);
  say(`A sample project is in ${project}. Its test fails.`);
  say('Claude Code, its model a script, is asked to fix it: on a copy, in a');
  say('container. Enter starts it; at the end you choose what of its changes you');
  say('want: d shows them (q leaves the pager), then y.');
  say();
  const argv = [path.join(root, 'dist/main.js'), '--copy-workspace', project, '-p', 'The test fails. Fix the code.'];
  // State of this trial stays with it: nothing is left in the user's directories.
  const env = {
    ...process.env,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'sk-ant-sample-key-of-the-scripted-model',
    XDG_STATE_HOME: path.join(dir, 'state'),
    XDG_DATA_HOME: path.join(dir, 'data'),
    XDG_CACHE_HOME: path.join(dir, 'cache'),
  };
  status = spawnSync(process.execPath, argv, { cwd: project, env, stdio: 'inherit' }).status ?? 1;
  model.stop();
  say();
  const changed = execFileSync('git', ['status', '--short'], { cwd: project, encoding: 'utf8' }).trimEnd();
  say(
    changed === ''
      ? 'Nothing was applied to the sample project.'
      : 'What is new in the sample project now (git status):',
  );
  for (const line of changed.split('\n').filter(Boolean)) say(`  ${line}`);
  if (PENDING.includes(status)) {
    say('The sample and its session are removed now: the commands above that name');
    say('the session find nothing any more.');
  }
  say();
  say(
    hasCredentials()
      ? 'On a project of yours, with your account:'
      : 'On a project of yours (log in with claude once, or set ANTHROPIC_API_KEY):',
  );
  say(`  node ${path.join(root, 'dist/main.js')} --copy ~/your-project`);
} finally {
  removeTrial(dir);
}
process.exitCode = PENDING.includes(status) ? 0 : status;
