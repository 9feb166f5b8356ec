import type { OwnAgent } from '../core/types/agent/own-agent.ts';
import type { Agent } from './agent.ts';
import { readerOf } from './others/words.ts';

/** The agent of a table of the user's configuration. Nothing of its home comes back. */
export function ownAgent(row: OwnAgent): Agent {
  const { name, title, provider, env } = row;
  const [program = name] = row.program;
  const placeholder = provider?.placeholder ?? '';
  const reader = readerOf({
    options: {},
    printsWith: row.print,
    conversations: [],
    permissionOptions: row.skipPermissions.filter((word) => word.startsWith('-')),
    permissions: { skip: row.skipPermissions, ask: [] },
  });
  return {
    own: row,
    name,
    title,
    program: row.program,
    image: packageOf(row, program),
    instructionsFile: row.instructions,
    homePaths: [],
    loginHint: provider === undefined ? undefined : `Set ${provider.key} on this machine`,
    noLogin:
      provider === undefined
        ? `[agents.${name}] names no provider`
        : `there is no key on the host: set ${provider.key} there, then start again`,
    quietHosts: [],
    commandLine: { ...reader, namedConversation: () => undefined, resumeWords: (_conversation, words) => words },
    broker: {
      placeholder: () => placeholder,
      variables: (_source, url) =>
        Object.fromEntries(
          Object.entries(env).map(([key, value]) => [
            key,
            value.replaceAll('{broker}', url).replaceAll('{placeholder}', placeholder),
          ]),
        ),
    },
    loadCredentials: async () => ({
      find: (await import('./others/own-home.ts')).keyFinder(provider),
      asFile: undefined,
    }),
    loadHome: async () => {
      const { stageOwn } = await import('./others/own-home.ts');
      return { conversationsDir: undefined, stage: (options) => stageOwn(row, options) };
    },
    loadData: async () => ({
      collect: async () => ({ changes: [], attempts: [], findings: [], dropped: {} }),
      apply: async () => [],
    }),
  };
}

function packageOf({ package: pinned }: OwnAgent, program: string): Agent['image'] {
  if (pinned === undefined) return undefined;
  const at = pinned.name.lastIndexOf('@');
  const file = { name: pinned.name.slice(0, at), version: pinned.name.slice(at + 1), integrity: pinned.integrity };
  return { program, files: { all: file }, entry: pinned.entry };
}
