import path from 'node:path';
import { readSmallFile } from '../../core/host/files/small-file.ts';
import type { ChosenAgents } from '../grammar/parse-command-line.ts';

/**
 * The agents that the user's configuration names. What is wrong there is reported with the other settings, before a session
 * starts. Every command line is read by these agents' options, so that the file is read twice: most users have none.
 */
export async function chosenAgents(configDir: string, env: NodeJS.ProcessEnv): Promise<ChosenAgents> {
  const usual = env['RUN_CLAUDE_AGENT'] || undefined;
  const file = path.join(configDir, 'config.toml');
  try {
    const text = readSmallFile(file, 'follow') ?? '';
    const [top = ''] = text.split(/^\s*\[/m);
    const named = usual ?? /^\s*agent\s*=\s*["']([\w-]+)["']\s*(?:#.*)?$/m.exec(top)?.[1];
    // Most files name no agent of the user's own, and are not read as a whole here.
    if (!/\bagents\b/.test(text)) return { usual: named };
    const { readConfigFile } = await import('../../core/config/config-file.ts');
    return { usual: named, own: readConfigFile(text, file).agents };
  } catch {
    return { usual };
  }
}
