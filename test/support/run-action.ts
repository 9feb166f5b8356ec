import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from './scene.ts';

interface ActionStep {
  readonly id?: string;
  readonly name?: string;
  readonly if?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, string>>;
}

interface ActionFile {
  readonly inputs: Readonly<Record<string, { readonly default?: string; readonly required?: boolean }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly steps: readonly ActionStep[] };
}

export const action: ActionFile = parse(readFileSync(path.join(packageRoot, 'action.yml'), 'utf8'));

export interface ActionRun {
  readonly inputs: Readonly<Record<string, string>>;
  /** By its name in expressions: `github.event.pull_request.base.sha`. */
  readonly context: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly workspace: string;
  /** Does what an action of a step with `uses` would do. */
  readonly use?: (step: string, inputs: Readonly<Record<string, string>>) => void;
}

export interface ActionResult {
  readonly failed: boolean;
  readonly log: string;
  readonly summary: string;
  readonly outputs: Readonly<Record<string, string>>;
  /** Names of the actions that ran, in their order. */
  readonly used: readonly string[];
}

/** Runs the steps of action.yml as the runner does: expressions, conditions, variables, outputs. */
export async function runAction(run: ActionRun, temp: string): Promise<ActionResult> {
  const files = mkdtempSync(path.join(temp, 'runner-'));
  const [output, page] = [path.join(files, 'output'), path.join(files, 'summary')];
  const values: Record<string, string> = { 'runner.temp': temp, ...run.context };
  const termValue = (term: string): string => {
    const [, pattern, name = ''] = /^format\('([^']*)', *([\w.-]+)\)$/.exec(term) ?? [];
    return pattern === undefined ? (values[term] ?? '') : pattern.replaceAll('{0}', values[name] ?? '');
  };
  // The last term that counts: `a && b || c`.
  const either = (text: string): string =>
    text.split('||').reduce(
      (found, all) =>
        found ||
        all
          .split('&&')
          .map((term) => termValue(term.trim()))
          .reduce((one, next) => one && next),
      '',
    );
  const fill = (text: string): string =>
    text.replaceAll(/\$\{\{(.*?)\}\}/g, (_, expression: string) => either(expression));
  for (const [name, { default: value = '' }] of Object.entries(action.inputs))
    values[`inputs.${name}`] = run.inputs[name] ?? fill(value);
  const holds = (condition: string, failed: boolean): boolean => {
    const parts = condition.split('&&').map((part) => part.trim());
    if (failed && !parts.includes('always()')) return false;
    return parts.every((part) => {
      if (part === 'always()') return true;
      const [, name = '', operator, value = ''] = /^([\w.-]+) (==|!=) '([^']*)'$/.exec(part) ?? [];
      if (operator === undefined) throw new Error(`a condition that this runner does not know: ${part}`);
      return ((values[name] ?? '') === value) === (operator === '==');
    });
  };
  let [log, failed]: [string, boolean] = ['', false];
  const used: string[] = [];
  writeFileSync(page, '');
  for (const step of action.runs.steps) {
    if (!holds(step.if ?? "runner.temp != ''", failed)) continue;
    if (step.uses !== undefined) {
      used.push(step.uses.replace(/@.*/, ''));
      run.use?.(
        step.uses,
        Object.fromEntries(Object.entries(step.with ?? {}).map(([key, value]) => [key, fill(value)])),
      );
      continue;
    }
    writeFileSync(output, '');
    const env = {
      ...run.env,
      GITHUB_ACTION_PATH: packageRoot,
      GITHUB_WORKSPACE: run.workspace,
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: page,
      RUNNER_TEMP: temp,
      ...Object.fromEntries(Object.entries(step.env ?? {}).map(([key, value]) => [key, fill(value)])),
    };
    // The runner writes the line to a file and starts the shell so.
    const script = path.join(files, 'script.sh');
    writeFileSync(script, step.run ?? '');
    const { status, text } = await bash(['--noprofile', '--norc', '-e', '-o', 'pipefail', script], run.workspace, env);
    log += text;
    failed ||= status !== 0;
    for (const line of readFileSync(output, 'utf8').split('\n')) {
      const at = line.indexOf('=');
      if (at > 0) values[`steps.${step.id}.outputs.${line.slice(0, at)}`] = line.slice(at + 1);
    }
  }
  const outputs = Object.fromEntries(Object.entries(action.outputs).map(([name, { value }]) => [name, fill(value)]));
  return { failed, log, summary: readFileSync(page, 'utf8'), outputs, used };
}

function bash(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status: status ?? 1, text }));
  });
}
