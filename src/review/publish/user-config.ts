import { runUserGit } from '../../core/host/user-git.ts';

/** One setting of the user's git configuration, as it applies in the project. */
export interface Setting {
  readonly scope: string;
  /** In lower case, but for a subsection. */
  readonly key: string;
  readonly value: string;
}

/** Every setting that applies in the project, the weakest first. Runs nothing that the configuration names. */
export async function readUserConfig(project: string, env: NodeJS.ProcessEnv): Promise<readonly Setting[]> {
  return parseSettings(
    await runUserGit(['config', '--show-scope', '--includes', '--list', '-z'], { cwd: project, env }),
  );
}

/** `scope NUL key LF value NUL`, as git config writes it. Pure. */
export function parseSettings(output: string): Setting[] {
  const parts = output.split('\0');
  const settings: Setting[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [scope = '', row = ''] = [parts[at], parts[at + 1]];
    const end = row.indexOf('\n');
    // A key without a value is true.
    settings.push(
      end < 0 ? { scope, key: row, value: 'true' } : { scope, key: row.slice(0, end), value: row.slice(end + 1) },
    );
  }
  return settings;
}

/** The value that counts; undefined where there is none. */
export function settingOf(settings: readonly Setting[], key: string): string | undefined {
  return settings.findLast((one) => one.key === key)?.value;
}

/** The user's own files and environment. A repository's configuration came with the repository. */
const OF_THE_USER = new Set(['system', 'global', 'command']);

/** Programs that sign, with what git takes where nothing is set. */
const SIGNERS = [
  ['gpg.x509.program', 'gpgsm'],
  ['gpg.ssh.program', 'ssh-keygen'],
] as const;

/** Whether the user signs commits, and settings by which the signing program is never one that the repository names. */
export function signing(settings: readonly Setting[]): {
  readonly isSigned: boolean;
  readonly settings: readonly string[];
} {
  const isSigned = /^(true|yes|on|[1-9]\d*)$/i.test(settingOf(settings, 'commit.gpgsign') ?? '');
  const own = settings.filter(({ scope }) => OF_THE_USER.has(scope));
  const gpg = settingOf(own, 'gpg.openpgp.program') ?? settingOf(own, 'gpg.program') ?? 'gpg';
  const keyCommand = 'gpg.ssh.defaultkeycommand';
  const hasKeyCommand = settingOf(settings, keyCommand) !== undefined;
  return {
    isSigned,
    settings: [
      `gpg.program=${gpg}`,
      `gpg.openpgp.program=${gpg}`,
      ...SIGNERS.map(([key, program]) => `${key}=${settingOf(own, key) ?? program}`),
      ...(hasKeyCommand ? [`${keyCommand}=${settingOf(own, keyCommand) ?? ''}`] : []),
    ],
  };
}
