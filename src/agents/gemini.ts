import type { Agent } from './agent.ts';
import { type OtherSettings, otherAgent } from './other-agent.ts';
import type { WordTable } from './others/words.ts';

/** Accepted by Gemini CLI as a key and as a token, of no use anywhere else. */
const PLACEHOLDER = 'placeholder-of-run-claude-the-real-one-is-outside';

const WORDS: WordTable = {
  options: {
    none: `-d --debug --skip-trust -s --sandbox -y --yolo --acp --experimental-acp -l --list-extensions
      --list-sessions --screen-reader --raw-output --accept-raw-output-risk -v --version -h --help`,
    one: `-m --model -p --prompt -i --prompt-interactive --approval-mode --session-file --session-id --delete-session
      -o --output-format -r --resume`,
    optional: '-w --worktree',
    many: '--policy --admin-policy --allowed-mcp-server-names --allowed-tools -e --extensions --include-directories',
  },
  printsWith: ['-p', '--prompt'],
  conversations: ['-r', '--resume', '--session-id', '--session-file'],
  withoutConversation: 'mcp extensions extension skills skill hooks hook',
  permissionOptions: ['-y', '--yolo', '--approval-mode'],
  permissions: { skip: ['--approval-mode=yolo'], ask: ['--approval-mode=default'] },
  promptOption: '-p',
};

/** Google's Gemini CLI. */
export const GEMINI: Agent = otherAgent({
  name: 'gemini',
  title: 'Gemini CLI',
  program: ['gemini'],
  image: {
    program: 'gemini',
    files: {
      all: {
        name: '@google/gemini-cli',
        version: '0.61.0',
        integrity: 'sha512-dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==',
      },
    },
    entry: 'bundle/gemini.js',
  },
  instructionsFile: 'GEMINI.md',
  loginHint: 'Log in with gemini on this machine, or set GEMINI_API_KEY',
  noLogin: 'there is no login on the host: run gemini there and /auth, or set GEMINI_API_KEY, then start again',
  quietHosts: ['play.googleapis.com', 'www.googleapis.com', 'oauth2.googleapis.com', 'api.github.com', 'github.com'],
  words: WORDS,
  dir: '.gemini',
  trees: ['commands', 'skills'],
  obeyed:
    /^(GEMINI\.md|settings\.json|\.env|oauth_creds\.json|trustedFolders\.json|(commands|skills|extensions|policies|agents|hooks)\/)/,
  conversation: {
    dirs: ['.gemini'],
    file: /^\.gemini\/(?:projects\.json|(?:tmp|history)\/[\w.-]+\/\.project_root|tmp\/[\w.-]+\/chats\/session-[\w-]+\.jsonl?)$/,
    resume: (_id, words) => ['--resume', 'latest', ...words],
  },
  broker: {
    placeholder: () => PLACEHOLDER,
    variables: (source, url) =>
      source?.cloud?.api.kind === 'code-assist'
        ? { GOOGLE_GENAI_USE_GCA: 'true', GOOGLE_CLOUD_ACCESS_TOKEN: PLACEHOLDER, CODE_ASSIST_ENDPOINT: url }
        : { GEMINI_API_KEY: PLACEHOLDER, GOOGLE_GEMINI_BASE_URL: url },
  },
  loadFind: async () => (await import('./others/gemini-login.ts')).findGeminiCredential,
  loadSettings,
});

async function loadSettings(): Promise<OtherSettings> {
  const [{ geminiOthers, geminiSettings }, { geminiDir }] = await Promise.all([
    import('./others/gemini-settings.ts'),
    import('./others/gemini-login.ts'),
  ]);
  return {
    from: geminiDir,
    file: 'settings.json',
    make: (from, { credential }) => geminiSettings(from, credential),
    others: geminiOthers,
  };
}
