import { readerOf } from '../other-agents/words.ts';
import type { Agent, AgentCredentials, AgentData, AgentHome } from './agent.ts';

const DIR = '.config/opencode';
/** Accepted by opencode as a key, of no use anywhere else. */
const PLACEHOLDER = 'sk-placeholder-of-run-claude-the-real-one-is-outside';

const WORDS = readerOf({
  options: {
    none: '-c --continue --fork --share --pure --print-logs --thinking --auto -i --interactive -h --help -v --version',
    one: '-m --model -s --session --prompt --command --format --title --variant --log-level --port --hostname',
    many: '-f --file',
  },
  printsWith: ['run'],
  conversations: ['-c', '--continue', '-s', '--session'],
  permissionOptions: ['--auto'],
  // The session's opencode.json has them.
  permissions: { skip: [], ask: [] },
  promptOption: '--prompt',
});

/** opencode, with a key of Anthropic or OpenAI. */
export const OPENCODE: Agent = {
  name: 'opencode',
  title: 'opencode',
  program: 'opencode',
  image: {
    program: 'opencode',
    // No package for arm64 is pinned.
    files: {
      amd64: {
        name: 'opencode-linux-x64-baseline',
        version: '1.18.33',
        integrity: 'sha512-1KQGBiiDDeL/VHHbHkOvvFo8Jr97WT5+C1tear+p7IcDTnXgVHXqIjU4O4jM4mHQzykTP2i884FCnW5LDa+zCA==',
      },
    },
    entry: 'bin/opencode',
  },
  instructionsFile: 'AGENTS.md',
  loginHint: 'Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or store a key with opencode auth login on this machine',
  noLogin: 'there is no key on the host: set ANTHROPIC_API_KEY or OPENAI_API_KEY there, then start again',
  quietHosts: ['models.dev', 'opencode.ai', '*.opencode.ai', 'api.github.com'],
  commandLine: { ...WORDS, namedConversation: () => undefined, resumeWords: () => [] },
  broker: {
    placeholder: () => PLACEHOLDER,
    variables: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' }),
  },
  loadCredentials,
  loadHome,
  loadData,
};

async function loadCredentials(): Promise<AgentCredentials> {
  const { findOpencodeCredential } = await import('../other-agents/opencode-home.ts');
  return { find: findOpencodeCredential, asFile: undefined };
}

async function loadHome(): Promise<AgentHome> {
  const [{ stageAgent }, { opencodeDir, opencodeSettings }] = await Promise.all([
    import('../other-agents/stage-agent.ts'),
    import('../other-agents/opencode-home.ts'),
  ]);
  const staged = { dir: DIR, instructionsFile: 'AGENTS.md', files: [], trees: ['command', 'commands', 'skills'] };
  return {
    conversationsDir: undefined,
    stage: async (options) => {
      const from = opencodeDir(options.env, options.home);
      const { text, dropped } = await opencodeSettings(from, {
        source: options.credential,
        brokerUrl: options.brokerUrl,
        placeholder: PLACEHOLDER,
        permissions: options.permissions,
      });
      const notes = dropped.length === 0 ? [] : [`~/${DIR}/opencode.json: not staged: ${dropped.join(', ')}`];
      return stageAgent(staged, { ...options, from, made: { [`${DIR}/opencode.json`]: text }, notes });
    },
  };
}

async function loadData(): Promise<AgentData> {
  const { collectAgent } = await import('../other-agents/collect-agent.ts');
  const watch = {
    dir: DIR,
    obeyed:
      /^(AGENTS\.md|opencode\.jsonc?|config\.json|tui\.json|(commands?|agents?|modes?|plugins?|tools?|skills?|themes)\/)/,
    own: /(?!)/,
  };
  return { collect: (options) => collectAgent(watch, options), apply: async () => [] };
}
