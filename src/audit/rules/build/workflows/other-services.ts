import { anyOf, words } from '../../../formats/words.ts';
import { everyCommand } from '../../../judges/every-line.ts';
import { onlyHarmlessKeys } from '../../../judges/harmless-change.ts';
import type { HarmlessKeys } from '../../../judges/harmless-keys.ts';
import { judge } from '../../../judges/judge.ts';
import type { HarmlessChange, JudgedText, Look } from '../../../judges/rule.ts';
import { WORKFLOW_PATHS, workflowChanges } from './changes.ts';

/** What counts in any file of a service for continuous integration. */
const COMMANDS: Look = {
  kind: 'lines',
  danger: anyOf(
    /pull_request_target|workflow_run|issue_comment|permissions:|secrets|self-hosted|\brun:/i,
    /\$\{\{\s*github\.(event|head_ref)|\buses:|include:|image:|script|orbs?:|command|if:\s*false/i,
    /continue-on-error|allow_failure|schedule|environment:|token/i,
  ),
  harmless: /uses:\s*[\w./-]+@[0-9a-f]{40}/,
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
const PLAIN: HarmlessKeys = {
  text: words`jobs.include.name stages.{name,displayName} {,***.}displayName name`,
  switch: words`{,***.}{timeout-minutes,timeoutInMinutes,interruptible,fast_finish,max-parallel,maxParallel,fetchDepth,clone_depth,parallelism}`,
  version: words`node_js python rvm php go jdk ghc perl rust julia elixir otp_release dart xcode_version version`,
};

/** A line that sets one of these keys to one number, version or text, and does nothing else. */
const PLAIN_LINE =
  /^\s*(- )?(\w[\w-]*:\s*)?(["']?)[\w.+-]+(?: [\w.+-]+)*\3$|^(node_js|python|rvm|php|go|jdk|ghc|perl|rust|julia|elixir|otp_release|dart):$/;

/** Harmless changes of workflows. */
export const HARMLESS_WORKFLOWS: readonly HarmlessChange[] = [
  { files: WORKFLOW_PATHS, proves: (texts) => workflowChanges(texts).length === 0 },
  { files: SETTINGS_PATHS, proves: onlyHarmlessKeys('yaml', { harmless: PLAIN, lines: PLAIN_LINE }) },
];

const SETTINGS: Look = { kind: 'settings', format: 'yaml', files: SETTINGS_PATHS, harmless: PLAIN, removed: /./ };

const PROGRAM = everyCommand();

/** What counts in a change of another service's file: the commands first, then keys of settings, or lines of a program. */
export function otherCiChanges(text: JudgedText): readonly string[] {
  const seen = judge({ look: [COMMANDS, SETTINGS] }, text);
  return seen.length > 0 ? seen : judge({ look: [PROGRAM] }, text);
}
