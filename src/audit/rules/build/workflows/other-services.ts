import { anyOf, words } from '../../../formats/words.ts';
import { everyCommand } from '../../../judges/every-line.ts';
import { judge } from '../../../judges/judge.ts';
import type { PlainKeys } from '../../../judges/plain.ts';
import { onlyPlainKeys, type PlainChange } from '../../../judges/plain-change.ts';
import type { Judge, JudgedText } from '../../../judges/rule.ts';

/** What counts in any file of a service for continuous integration. */
const COMMANDS: Judge = {
  kind: 'lines',
  danger: anyOf(
    /pull_request_target|workflow_run|issue_comment|permissions:|secrets|self-hosted|\brun:/i,
    /\$\{\{\s*github\.(event|head_ref)|\buses:|include:|image:|script|orbs?:|command|if:\s*false/i,
    /continue-on-error|allow_failure|schedule|environment:|token/i,
  ),
  safe: /uses:\s*[\w./-]+@[0-9a-f]{40}/,
};

/** The settings of services that are one file of YAML. */
const SETTINGS_PATHS = [
  '{.,*.}gitlab-ci.y{,a}ml',
  '.travis.y{,a}ml',
  '.circleci/config.y{,a}ml',
  'azure-pipelines*.y{,a}ml',
  'bitbucket-pipelines.yml',
  '.drone.y{,a}ml',
  '.woodpecker.y{,a}ml',
  '.cirrus.yml',
  '{.,}appveyor.yml',
] as const;

/** Texts for readers, and versions of a language under the name of the language. */
const PLAIN: PlainKeys = {
  text: words`jobs.include.name stages.{name,displayName} {,***.}displayName name`,
  switch: words`{,***.}{timeout-minutes,timeoutInMinutes,interruptible,fast_finish,max-parallel,maxParallel,fetchDepth,clone_depth,parallelism}`,
  version: words`node_js python rvm php go jdk ghc perl rust julia elixir otp_release dart xcode_version version`,
};

/** A line that sets one of these keys to one number, version or text, and does nothing else. */
const PLAIN_LINE =
  /^\s*(- )?(\w[\w-]*:\s*)?(["']?)[\w.+-]+(?: [\w.+-]+)*\3$|^(node_js|python|rvm|php|go|jdk|ghc|perl|rust|julia|elixir|otp_release|dart):$/;

/** Changes of these files that are plain data. */
export const PLAIN_CI_CHANGES: PlainChange = {
  paths: SETTINGS_PATHS,
  proves: onlyPlainKeys('yaml', { plain: PLAIN, lines: PLAIN_LINE }),
};

const SETTINGS: Judge = { kind: 'settings', format: 'yaml', paths: SETTINGS_PATHS, plain: PLAIN, removed: /./ };

const PROGRAM = everyCommand();

/** What counts in a change of another service's file: the commands first, then keys of settings, or lines of a program. */
export function otherCiChanges(text: JudgedText): readonly string[] {
  const seen = judge({ judges: [COMMANDS, SETTINGS] }, text);
  return seen.length > 0 ? seen : judge({ judges: [PROGRAM] }, text);
}
