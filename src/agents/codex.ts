import type { Agent } from './agent.ts';
import { type OtherSettings, otherAgent } from './other-agent.ts';
import { readerOf, type WordTable } from './others/words.ts';

/** Accepted by Codex as a key, of no use anywhere else. */
const PLACEHOLDER = 'sk-placeholder-of-run-claude-the-real-one-is-outside';

const WORDS: WordTable = {
  options: {
    none: `--search --no-alt-screen --oss --strict-config --json --skip-git-repo-check --ephemeral
      --ignore-user-config --approve-for-me --dangerously-bypass-approvals-and-sandbox --yolo --last --all -h --help
      -V --version`,
    one: `-c --config --enable --disable --local-provider -m --model -p --profile -s --sandbox -C --cd --add-dir -a
      --ask-for-approval --output-schema -o --output-last-message --color`,
    many: '-i --image',
  },
  printsWith: ['exec', 'e', 'review'],
  conversations: ['resume', 'fork', '--last'],
  withoutConversation: `review login logout mcp mcp-server app-server apply a cloud completion sandbox debug features
    plugin help`,
  permissionOptions: [
    ...['-s', '--sandbox', '-a', '--ask-for-approval', '--approve-for-me'],
    ...['--dangerously-bypass-approvals-and-sandbox', '--yolo'],
  ],
  permissions: {
    // Its own sandbox needs namespaces, which the container does not have. The container is the sandbox.
    skip: ['--dangerously-bypass-approvals-and-sandbox'],
    ask: ['--sandbox=danger-full-access', '--ask-for-approval=on-request'],
  },
};

const { endOfOptions } = readerOf(WORDS);

/** OpenAI's Codex. */
export const CODEX: Agent = otherAgent({
  name: 'codex',
  title: 'Codex',
  program: ['codex'],
  image: {
    program: 'codex',
    files: {
      amd64: {
        name: '@openai/codex',
        version: '0.169.0-linux-x64',
        integrity: 'sha512-o05NyAOCDygSPRo1yinzxvkRSdmsZyBD9E7mbpmjRanSfM8lypqWtQgEo4XfNkwhuCR2aFu8mlGOsQGFXVbVww==',
      },
      arm64: {
        name: '@openai/codex',
        version: '0.169.0-linux-arm64',
        integrity: 'sha512-NZ/DaQUpcQmxmqee7Z9uC1rzw3GhSbooawcaTe1LN5Yk+WlinUKGdTXJgClRT/9ogQEEM9TWxYzvxPfj5G/xFg==',
      },
    },
    entry: {
      amd64: 'vendor/x86_64-unknown-linux-musl/bin/codex',
      arm64: 'vendor/aarch64-unknown-linux-musl/bin/codex',
    },
  },
  instructionsFile: 'AGENTS.md',
  loginHint: 'Log in with codex login on this machine, or set CODEX_API_KEY',
  noLogin: 'there is no login on the host: run codex login there, or set CODEX_API_KEY, then start again',
  quietHosts: ['chatgpt.com', '*.chatgpt.com', 'openai.com', '*.openai.com', 'api.github.com'],
  words: WORDS,
  dir: '.codex',
  trees: ['prompts', 'skills'],
  obeyed:
    /^(AGENTS(\.override)?\.md|auth\.json|hooks\.json|(managed_)?config\.toml|[\w.-]+\.config\.toml|(prompts|skills|rules|plugins|hooks)\/)/,
  own: /^skills\/\.system\//,
  conversation: {
    dirs: ['.codex/sessions'],
    file: /^\.codex\/sessions\/\d{4}\/\d\d\/\d\d\/rollout-[\dT-]{19}-([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.jsonl$/,
    resume: (id, words) => {
      const exec = words.findIndex((word) => word === 'exec' || word === 'e');
      if (exec === -1) return ['resume', id, ...words];
      // `exec` has options that its `resume` refuses: they stay before it.
      const at = endOfOptions(words, exec + 1);
      if (['resume', 'review', 'help'].includes(words[at] ?? '')) return words;
      return [...words.slice(0, at), 'resume', id, ...words.slice(at)];
    },
  },
  broker: {
    placeholder: () => PLACEHOLDER,
    variables: () => ({ OPENAI_API_KEY: PLACEHOLDER }),
  },
  loadFind: async () => (await import('./others/codex-login.ts')).findCodexCredential,
  loadSettings,
});

async function loadSettings(): Promise<OtherSettings> {
  const [{ codexOthers, codexSettings }, { codexDir }] = await Promise.all([
    import('./others/codex-home.ts'),
    import('./others/codex-login.ts'),
  ]);
  return {
    from: codexDir,
    file: 'config.toml',
    others: codexOthers,
    make: (from, { credential: source, brokerUrl, workdir = '/workspace' }) =>
      codexSettings(from, { source, brokerUrl, workdir }),
  };
}
