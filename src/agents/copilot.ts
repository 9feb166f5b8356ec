import type { Agent } from './agent.ts';
import { type OtherSettings, otherAgent } from './other-agent.ts';
import type { WordTable } from './others/words.ts';

/** In the form of a GitHub token, of no use anywhere. */
const PLACEHOLDER = 'ghu_placeholderOfRunClaudeRealOneOutside';

const WORDS: WordTable = {
  options: {
    none: `-v --version --fleet --trust-folder -s --silent --disable-client-telemetry --enable-memory --continue
      --allow-all-tools --allow-all-paths --disallow-temp-dir --banner --screen-reader --plain-diff --disable-builtin-mcps
      --enable-all-github-mcp-tools --allow-all-urls --allow-all --yolo --autopilot --plan --experimental --acp
      --assisted-approval --no-custom-instructions --no-auto-update --no-ask-user --no-color --no-experimental
      -h --help`,
    one: `-i --interactive -p --prompt --model --reasoning-effort --context --auto-tier -n --name --session-id -C
      --log-dir --log-level --stream --output-format --add-dir --attachment --disable-mcp-server --plugin-dir
      --additional-mcp-config --max-autopilot-continues --mode --max-ai-credits --usage-output-file`,
    optional: '-r --resume --share',
    many: '--allow-tool --deny-tool --available-tools --excluded-tools --allow-url --deny-url',
  },
  printsWith: ['-p', '--prompt'],
  conversations: ['-r', '--resume', '--continue', '--session-id'],
  withoutConversation: 'help init login mcp plugin update version',
  permissionOptions: [
    '--allow-all',
    '--yolo',
    '--allow-all-tools',
    '--allow-tool',
    '--deny-tool',
    '--assisted-approval',
  ],
  // The container is the sandbox.
  permissions: { skip: ['--allow-all'], ask: [] },
  promptOption: '-p',
};

/** GitHub's Copilot CLI. */
export const COPILOT: Agent = otherAgent({
  name: 'copilot',
  title: 'Copilot CLI',
  program: ['copilot'],
  image: {
    program: 'copilot',
    files: {
      amd64: {
        name: '@github/copilot-linux-x64',
        version: '1.0.102',
        integrity: 'sha512-eGHPbsP0p2QgfVZCjtbGBFZPBOJQ0DN7xIbBRAo7oG8b1zfLirQIdfI4h8Iy68Dv2cKJGJZg2/EO7W7KpIMJOw==',
      },
      arm64: {
        name: '@github/copilot-linux-arm64',
        version: '1.0.102',
        integrity: 'sha512-5rO0B2/AduCekrE+aUzipySKZxZY2b/tVRZ8Suy8ymPFNC0Q7HQiQ8DZhxj+3RhHR8rU2Z8KOJVAbtMlROX6+A==',
      },
    },
    entry: 'copilot',
  },
  instructionsFile: 'copilot-instructions.md',
  loginHint: 'Log in with gh auth login on this machine, or set COPILOT_GITHUB_TOKEN',
  noLogin: 'there is no login on the host: run gh auth login there, or set COPILOT_GITHUB_TOKEN, then start again',
  quietHosts: ['api.github.com', 'github.com', '*.githubcopilot.com'],
  words: WORDS,
  dir: '.copilot',
  alsoKeeps: ['.config/github-copilot'],
  trees: ['skills'],
  obeyed:
    /^(copilot-instructions\.md$|(settings|mcp-config|lsp-config)\.json$|(instructions|agents|skills|hooks|extensions|workflows|installed-plugins)\/)/,
  conversation: {
    dirs: ['.copilot/session-state'],
    file: /^\.copilot\/session-state\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/[\w./-]+(?<!\.lock)$/,
    resume: (id, words) => [`--resume=${id}`, ...words],
  },
  broker: {
    placeholder: () => PLACEHOLDER,
    variables: (_source, url) => ({
      COPILOT_API_URL: url,
      COPILOT_GITHUB_TOKEN: PLACEHOLDER,
      COPILOT_AUTO_UPDATE: 'false',
    }),
  },
  loadFind: async () => (await import('./others/copilot-login.ts')).findCopilotCredential,
  loadSettings,
});

async function loadSettings(): Promise<OtherSettings> {
  const { copilotDir, copilotOthers, copilotSettings } = await import('./others/copilot-home.ts');
  return {
    from: copilotDir,
    file: 'settings.json',
    others: copilotOthers,
    make: (from, { workdir = '/workspace' }) => copilotSettings(from, workdir),
  };
}
