import type { Agent } from './agent.ts';
import { type OtherSettings, otherAgent } from './other-agent.ts';
import type { WordTable } from './others/words.ts';

/** Accepted by opencode as a key, of no use anywhere else. */
const PLACEHOLDER = 'sk-placeholder-of-run-claude-the-real-one-is-outside';

const WORDS: WordTable = {
  options: {
    none: '-c --continue --fork --share --pure --print-logs --thinking --auto -i --interactive -h --help -v --version',
    one: '-m --model -s --session --prompt --command --format --title --variant --log-level --port --hostname',
    many: '-f --file',
  },
  printsWith: ['run'],
  conversations: ['-c', '--continue', '-s', '--session'],
  withoutConversation: `acp mcp attach debug auth providers agent upgrade uninstall serve web models stats export import
    github pr session plugin db completion`,
  permissionOptions: ['--auto'],
  // The session's opencode.json has them.
  permissions: { skip: [], ask: [] },
  promptOption: '--prompt',
};

/** opencode, with a key of Anthropic or OpenAI. */
export const OPENCODE: Agent = otherAgent({
  name: 'opencode',
  title: 'opencode',
  program: ['opencode'],
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
  words: WORDS,
  dir: '.config/opencode',
  alsoKeeps: ['.local/share/opencode'],
  trees: ['command', 'commands', 'skills'],
  obeyed:
    /^(AGENTS\.md|opencode\.jsonc?|config\.json|tui\.json|(commands?|agents?|modes?|plugins?|tools?|skills?|themes)\/)/,
  conversation: {
    dirs: ['.local/share/opencode'],
    file: /^\.local\/share\/opencode\/opencode\.db(?:-wal)?$/,
    resume: (_id, [first, ...rest]) => {
      if (first === 'run') return ['run', '--continue', ...rest];
      return first === undefined ? ['--continue'] : ['--continue', first, ...rest];
    },
  },
  broker: {
    placeholder: () => PLACEHOLDER,
    variables: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' }),
  },
  loadFind: async () => (await import('./others/opencode-home.ts')).findOpencodeCredential,
  loadSettings,
});

async function loadSettings(): Promise<OtherSettings> {
  const { opencodeDir, opencodeOthers, opencodeSettings } = await import('./others/opencode-home.ts');
  return {
    from: opencodeDir,
    file: 'opencode.json',
    others: opencodeOthers,
    make: (from, { credential: source, brokerUrl, permissions }) =>
      opencodeSettings(from, { source, brokerUrl, placeholder: PLACEHOLDER, permissions }),
  };
}
