import { LONG_MS, type Scene, scenes } from './scene.ts';

/**
 * Starts what editors and coding agents start of a project's settings when they open its folder: they themselves are not
 * in the image. Files that cannot be read start nothing.
 */
const STARTER = String.raw`
import json, os, re, subprocess
os.environ['CLAUDE_PROJECT_DIR'] = os.getcwd()

def strip(text):
    keep = lambda found: found.group(1) or ''
    text = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', keep, text, flags=re.S)
    return re.sub(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', keep, text, flags=re.S)

def parse(name, text):
    if not name.endswith('.toml'):
        return json.loads(strip(text))
    import tomllib
    return tomllib.loads(text)

def read(name):
    try:
        with open(name, encoding='utf-8-sig') as file:
            found = parse(name, file.read())
        return found if isinstance(found, dict) else {}
    except (ImportError, OSError, ValueError, RecursionError):
        return {}

def part(value, *keys):
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value

def every(value):
    return value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []

def start(command, words=None):
    if isinstance(command, dict):
        for one in command.values():
            start(one)
        return
    words = [word if isinstance(word, str) else str(part(word, 'value')) for word in every(words)]
    line = [str(word) for word in command] if isinstance(command, list) else [command]
    if not line or not isinstance(line[0], str):
        return
    if len(line) == 1 and not words:
        line = ['sh', '-c', *line]
    try:
        subprocess.run([*line, *words], input=b'{}', timeout=5)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        pass

def hooks(value):
    if isinstance(part(value, 'command'), (str, list)):
        start(value['command'])
    else:
        for one in every(value):
            hooks(one)

def servers(value):
    for one in every(value):
        start(part(one, 'command'), part(one, 'args'))
`;

const starter = (program: string): string => `python3 - <<'RUN-CLAUDE'\n${STARTER}\n${program}\nRUN-CLAUDE`;

/** What a prompt's folder starts besides a shell: an editor, an agent, and hooks of git that the user has set up. */
export const OPENER_SCENES: readonly Scene[] = [
  ...scenes({ limitMs: LONG_MS }, [
    [
      'VS Code opens the folder',
      '.vscode/tasks.json',
      'python3',
      starter(`for task in every(read('.vscode/tasks.json').get('tasks')):
    if part(task, 'runOptions', 'runOn') == 'folderOpen':
        for one in (task, part(task, 'linux'), part(task, 'osx'), part(task, 'windows')):
            start(part(one, 'command'), part(one, 'args') or task.get('args'))
        if task.get('type') == 'npm':
            start('npm', ['run', str(task.get('script'))])`),
    ],
    [
      'a development container starts',
      '.devcontainer/devcontainer.json .devcontainer.json',
      'python3',
      starter(`for name in ('.devcontainer/devcontainer.json', '.devcontainer.json'):
    start(read(name).get('initializeCommand'))`),
    ],
    [
      'Claude Code opens the folder',
      '.claude/settings.json .claude/settings.local.json .mcp.json',
      'python3',
      starter(`for name in ('.claude/settings.json', '.claude/settings.local.json'):
    settings = read(name)
    hooks(settings.get('hooks'))
    hooks(settings.get('statusLine'))
    for key in ('apiKeyHelper', 'awsAuthRefresh', 'awsCredentialExport', 'otelHeadersHelper'):
        start(settings.get(key))
servers(read('.mcp.json').get('mcpServers'))`),
    ],
    [
      'other agents open the folder',
      '.codex/config.toml .gemini/settings.json .cursor/mcp.json .cursor/hooks.json .vscode/mcp.json',
      'python3',
      starter(`codex = read('.codex/config.toml')
start(codex.get('notify'))
servers(codex.get('mcp_servers'))
gemini = read('.gemini/settings.json')
hooks(gemini.get('hooks'))
servers(gemini.get('mcpServers'))
servers(read('.cursor/mcp.json').get('mcpServers'))
servers(read('.vscode/mcp.json').get('servers'))
hooks(read('.cursor/hooks.json').get('hooks'))`),
    ],
    [
      'hooks in .githooks',
      '.githooks',
      'git',
      'git -c core.hooksPath=.githooks commit -q --allow-empty -m rehearsal && git -c core.hooksPath=.githooks checkout -q HEAD',
    ],
    [
      'hooks of husky',
      '.husky',
      'bash',
      'for hook in pre-commit prepare-commit-msg commit-msg post-commit post-checkout post-merge pre-push; do test ! -f .husky/$hook || sh -e .husky/$hook; done',
    ],
  ]),
];
