import type { Agent, AgentCredentials, AgentData, AgentHome } from './agent.ts';
import {
  asksForPrint,
  choosesConversation,
  namedConversation,
  promptOf,
  resumeWords,
} from './claude/command-line/conversation.ts';
import { CLAUDE_OPTIONS, readClaudeOption } from './claude/command-line/options.ts';
import { permissionWords, withPermissions } from './claude/command-line/permissions.ts';
import { brokerVariables, placeholderOf } from './claude/credentials/broker-variables.ts';
import { claudeConfigDir } from './claude/credentials/config-places.ts';

/** Claude Code. */
export const CLAUDE: Agent = {
  name: 'claude',
  title: 'Claude',
  program: ['claude'],
  image: undefined,
  instructionsFile: 'CLAUDE.md',
  homePaths: ['.claude', '.claude.json'],
  loginHint: 'Log in with claude on this machine, or set ANTHROPIC_API_KEY',
  noLogin: 'there is no login on the host: run claude there and /login, or set ANTHROPIC_API_KEY, then start again',
  quietHosts: [],
  commandLine: {
    optionNames: [...CLAUDE_OPTIONS.keys()],
    detachingOptions: ['--background', '--bg'],
    readOption: readClaudeOption,
    asksForPrint,
    promptOf,
    choosesConversation,
    namedConversation,
    resumeWords,
    permissionWords,
    withPermissions,
  },
  broker: { placeholder: placeholderOf, variables: brokerVariables },
  loadCredentials,
  loadHome,
  loadData,
};

async function loadCredentials(): Promise<AgentCredentials> {
  const [{ findCredential }, { credentialFile }] = await Promise.all([
    import('./claude/credentials/credentials.ts'),
    import('./claude/credentials/credential-file.ts'),
  ]);
  return { find: findCredential, asFile: credentialFile };
}

async function loadHome(): Promise<AgentHome> {
  const [{ stageClaude }, { ISOLATED_DIR }] = await Promise.all([
    import('./claude/stage/stage.ts'),
    import('./claude/instances/isolated.ts'),
  ]);
  return {
    conversationsDir: ISOLATED_DIR,
    stage: ({ credentialFile: file, credential: _credential, brokerUrl: _url, ...options }) =>
      stageClaude({
        ...options,
        configDir: claudeConfigDir(options.env, options.home),
        ...(file === undefined ? {} : { settings: file.settings, links: file.link === undefined ? [] : [file.link] }),
      }),
  };
}

async function loadData(): Promise<AgentData> {
  const [{ collectClaude }, { applyClaude }, { claimsOfLine }] = await Promise.all([
    import('./claude/back/collect.ts'),
    import('./claude/back/apply.ts'),
    import('./claude/formats/claims.ts'),
  ]);
  return { collect: collectClaude, apply: applyClaude, claimsOfLine };
}
