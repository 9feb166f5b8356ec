import { readerOf } from '../other-agents/words.ts';
import type { Agent, AgentCredentials, AgentData, AgentHome } from './agent.ts';

const DIR = '.gemini';
/** Accepted by Gemini CLI as a key and as a token, of no use anywhere else. */
const PLACEHOLDER = 'placeholder-of-run-claude-the-real-one-is-outside';

const WORDS = readerOf({
  options: {
    none: '-d --debug --skip-trust -s --sandbox -y --yolo --acp --experimental-acp -l --list-extensions --list-sessions --screen-reader --raw-output --accept-raw-output-risk -v --version -h --help',
    one: '-m --model -p --prompt -i --prompt-interactive --approval-mode --session-file --session-id --delete-session -o --output-format -r --resume',
    optional: '-w --worktree',
    many: '--policy --admin-policy --allowed-mcp-server-names --allowed-tools -e --extensions --include-directories',
  },
  printsWith: ['-p', '--prompt'],
  conversations: ['-r', '--resume', '--session-id', '--session-file'],
  permissionOptions: ['-y', '--yolo', '--approval-mode'],
  permissions: { skip: ['--approval-mode=yolo'], ask: ['--approval-mode=default'] },
  promptOption: '-p',
});

/** Google's Gemini CLI. */
export const GEMINI: Agent = {
  name: 'gemini',
  title: 'Gemini CLI',
  program: 'gemini',
  image: {
    program: 'gemini',
    files: {
      amd64: {
        name: '@google/gemini-cli',
        version: '0.61.0',
        integrity: 'sha512-dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==',
      },
      arm64: {
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
  commandLine: { ...WORDS, namedConversation: () => undefined, resumeWords: () => [] },
  broker: {
    placeholder: () => PLACEHOLDER,
    variables: (source, url) =>
      source?.cloud?.api.kind === 'code-assist'
        ? { GOOGLE_GENAI_USE_GCA: 'true', GOOGLE_CLOUD_ACCESS_TOKEN: PLACEHOLDER, CODE_ASSIST_ENDPOINT: url }
        : { GEMINI_API_KEY: PLACEHOLDER, GOOGLE_GEMINI_BASE_URL: url },
  },
  loadCredentials,
  loadHome,
  loadData,
};

async function loadCredentials(): Promise<AgentCredentials> {
  const { findGeminiCredential } = await import('../other-agents/gemini-login.ts');
  return { find: findGeminiCredential, asFile: undefined };
}

async function loadHome(): Promise<AgentHome> {
  const [{ stageAgent }, { geminiSettings }, { geminiDir }] = await Promise.all([
    import('../other-agents/stage-agent.ts'),
    import('../other-agents/gemini-settings.ts'),
    import('../other-agents/gemini-login.ts'),
  ]);
  const staged = { dir: DIR, instructionsFile: 'GEMINI.md', files: [], trees: ['commands', 'skills'] };
  return {
    conversationsDir: undefined,
    stage: async (options) => {
      const from = geminiDir(options.env, options.home);
      const { text, dropped } = await geminiSettings(from, options.credential);
      const notes = dropped.length === 0 ? [] : [`~/.gemini/settings.json: not staged: ${dropped.join(', ')}`];
      return stageAgent(staged, { ...options, from, made: { [`${DIR}/settings.json`]: text }, notes });
    },
  };
}

async function loadData(): Promise<AgentData> {
  const { collectAgent } = await import('../other-agents/collect-agent.ts');
  const watch = {
    dir: DIR,
    obeyed:
      /^(GEMINI\.md|settings\.json|\.env|oauth_creds\.json|trustedFolders\.json|(commands|skills|extensions|policies|agents|hooks)\/)/,
    own: /(?!)/,
  };
  return { collect: (options) => collectAgent(watch, options), apply: async () => [] };
}
