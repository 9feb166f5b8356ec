import { CODE } from '../../formats/text-files.ts';
import { anyOf, oneOf, pattern } from '../../formats/words.ts';
import type { Rule } from '../../judges/rule.ts';

const EXECUTORS = oneOf`
  eval exec assert system passthru shell_exec popen proc_open instance_eval class_eval
`;
const HTTP_CLIENTS = oneOf`
  requests urllib httpx URI Net::HTTP open-uri
`;
const POWERSHELL_DOWNLOADS = oneOf`
  DownloadString WebClient Invoke-WebRequest iwr irm
`;
const STARTUP_FILES = oneOf`
  bashrc bash_profile zshrc zshenv zprofile ssh\/authorized_keys ssh\/config config\/autostart config\/systemd
`;
/** Files of a project that run by themselves once they are there. */
const RUN_BY_NAME = oneOf`
  \.vscode\/(tasks|settings|launch)\.json \.github\/workflows\/ \.husky\/ \.githooks\/ \.claude\/(settings|hooks|commands)
  \.envrc\b \.devcontainer \.idea\/ \.mcp\.json \.cursor\/ CLAUDE\.md AGENTS\.md \.pre-commit-config \.npmrc\b
`;
const HARMLESS_HOSTS = oneOf`
  localhost 127\. 0\.0\.0\.0 \[::1\] 10\. 192\.168\. www\.w3\.org schemas?\. json-schema\.org xmlns purl\.org
  example\. .{0,40}\.(test|local|example|invalid)\b
`;

/** Code that fetches and runs something, opens the machine or takes credentials. */
export const ATTACKS_SIGNALS: readonly Rule[] = [
  {
    id: 'shell-pipe',
    title: 'Downloaded text that is run',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    // Pages that show how a program is installed.
    files: [...CODE, '*.{yml,yaml,json,toml,htm,html,ini,cfg,conf}', '!*.mdx'],
    look: [
      {
        kind: 'signal',
        danger:
          /\b(curl|wget|fetch|iwr|Invoke-WebRequest)\b[^|;]{0,300}\|\s*(sudo\s+(-\w+\s+)*)?((ba|z|da|k)?sh|python[0-9.]*|node|perl|ruby|iex)\b|\b(ba|z)?sh\s+(-c\s+)?["']?[<$]\(\s*(curl|wget)/i,
      },
    ],
    why: 'The owner of the server decides what runs.',
    source: 'common practice of installers and droppers',
  },
  {
    id: 'code-from-outside',
    title: 'Code that runs external input',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: CODE,
    look: [
      {
        kind: 'signal',
        danger: anyOf(
          pattern()`\b(${EXECUTORS})\s*(?:\(\s*)?.{0,40}(\$_(GET|POST|REQUEST|COOKIE)|\b(${HTTP_CLIENTS})\b.{0,10}\b(get|open|request|urlopen|urlretrieve)\b)`,
          pattern()`\b(IEX|iex|Iex|Invoke-Expression|invoke-expression)\b.{0,80}(${POWERSHELL_DOWNLOADS})`,
          /\bDownloadString\(.{0,120}\|\s*(iex|IEX)|getRuntime\(\)\.exec\(.{0,40}request/,
          /child_process.{0,60}exec\w*\(.{0,60}Buffer\.from\(|\bimport\(\s*["'`]https?:/,
          /\[\s*["']constructor["']\s*\]\s*[[(.].{0,20}constructor|(\.|source)\s+<\(\s*(curl|wget)/,
          /\|\s*rev\s*\|\s*(ba|z|da)?sh\b/,
          /\b(curl|wget)\b.{0,120}\s(-o|-O|>)\s*([^\s;&|]{1,80})[^\n]{0,40}(;|&&)\s*(chmod \S{1,6} \S{1,80}\s*(;|&&)\s*)?(sudo\s+)?((ba|z|da)?sh|python3?|\.)\s+\S/,
        ),
        inCode: true,
      },
    ],
    why: 'The sender of the request or response decides what runs.',
    source: 'malware reports',
  },
  {
    id: 'writes-run-by-name',
    title: 'Code that writes a file which another tool runs',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: CODE,
    look: [
      {
        kind: 'signal',
        danger: anyOf(
          /\.git[/\\]+(hooks[/\\]|config\b(?!\.)|info[/\\]attributes)|["']\.git["']\s*,\s*["']hooks["']/,
          /\bgit\s+config\s+(-\S+\s+){0,4}["']?(core\.(hooks[pP]ath|fsmonitor|ssh[cC]ommand|editor|pager|git[pP]roxy)|alias\.|filter\.|diff\.\S+\.(command|textconv)|credential\.\S*helper)/,
          pattern(
            '',
          )`\b(cp|mv|ln|install|tee|rsync|[Cc]opy\w*|[Rr]ename\w*|[Ww]rite\w*|[Mm]ove\w*|dump)\b.{0,160}(${RUN_BY_NAME})`,
          pattern('')`>{1,2}\s{0,4}["']?(\.\/)?(${RUN_BY_NAME})`,
        ),
        inCode: true,
      },
    ],
    why: 'The file that it writes is judged by no one, and runs at the next commit, push or opening of the folder.',
    source: 'githooks(5); VS Code tasks; MITRE ATT&CK T1546',
  },
  {
    id: 'payload',
    title: 'Data that runs where a tool reads it',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: ['*', '!*.{md,mdx,rst,adoc,htm,html}'],
    look: [
      {
        kind: 'signal',
        danger: anyOf(
          /"runOn"\s*:\s*"folderOpen"|!!python\/(object|name|module)|!ruby\/(object|hash|struct):|!!javax?\./,
          /^-?[ \t\v\f]*["']?(run|script|command|(pre|post)?install|prepare)["']?\s*[:=].{0,200}\b(curl|wget)\b[^|]{0,200}\|\s*(sudo\s+)?(ba|z|da)?sh\b/,
        ),
      },
    ],
    why: 'Copied under the name that the tool reads, it runs by itself.',
    source: 'VS Code tasks; PyYAML and Psych documentation',
  },
  {
    id: 'shell-backdoor',
    title: 'Remote shell or program that starts at login',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: CODE,
    look: [
      {
        kind: 'signal',
        danger: anyOf(
          /\/dev\/(tcp|udp)\/|\b(nc|ncat|netcat)\s+(-\w+\s+){0,4}(-e|-c|--exec)\b|\bsh\s+-i\b.{0,60}(\||>&|nc )/,
          /pty\.spawn\(|os\.dup2\(.{0,60}(fileno|,\s*[012]\))|\|\s*crontab\s+-|crontab\s+-r/,
          pattern()`\.(${STARTUP_FILES})`,
          /\/etc\/(sudoers|ld\.so\.preload|cron\.|crontab|profile\.d|rc\.local)/,
          /chmod\s+(u\+s|g\+s|[2467][0-7]{3})\b|LaunchAgents\/|CurrentVersion\\{1,2}Run\b|schtasks\s+\/create/,
          /unset\s+HISTFILE|HISTFILE=\/dev\/null|history\s+-c\b|\b(LD_PRELOAD|DYLD_INSERT_LIBRARIES)=/,
        ),
        // A comment, or printed text without expansion and without another command.
        harmless:
          /^#+\s(?!\s*(define|include|import|pragma|if|error)\b)|^(echo|printf|print|puts|say)(\s-[a-z]{1,3})?[\s(]{1,4}("[^"`${\\]*"|'[^'\\]*')\)?;?$/,
        inCode: true,
      },
    ],
    why: 'It gives others access to the machine, or starts again at the next login.',
    source: 'MITRE ATT&CK, persistence and command and control',
  },
  {
    id: 'reads-credentials',
    title: 'Path of credentials in code',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: [...CODE, '!{doc,docs}/**'],
    look: [
      {
        kind: 'signal',
        danger: anyOf(
          /\.ssh\/id_[a-z0-9]+|\.aws\/credentials|\.config\/gcloud|application_default_credentials/,
          /\.azure\/(accessTokens|msal_token)|\.kube\/config\b|\.docker\/config\.json/,
          /(HOME|homedir\(\)|~|expanduser\(.{0,3}~)["'`\s+,/}]{0,8}\.(npmrc|netrc|pypirc|git-credentials|claude(\.json|\/\.credentials)|pgpass|gem\/credentials|cargo\/credentials)/,
          /\.git-credentials|\.claude\/\.credentials|169\.254\.169\.254|metadata\.google\.internal/,
          /find-(generic|internet)-password|Login Data|Local State\b.{0,40}encrypted_key|\/etc\/shadow\b/,
          /wallet\.dat|\bMetaMask\b|secret-tool\s+(lookup|search)/,
        ),
        inCode: true,
      },
    ],
    why: 'Code of a project does not need the keys of the user who runs it.',
    source: 'MITRE ATT&CK, credential access; Shai-Hulud reports',
  },
  {
    id: 'new-host',
    title: 'Unencrypted URL, IP address or URL shortener',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'note',
    files: ['*', '!*.{md,mdx,rst,svg,lock,htm,html}', '!{doc,docs,test,tests,fixtures,license,licenses}/**'],
    look: [
      {
        kind: 'signal',
        danger: anyOf(
          pattern('i')`\bhttp:\/\/(?!${HARMLESS_HOSTS})[a-z0-9.-]{4,}`,
          /https?:\/\/(\d{1,3}\.){3}\d{1,3}(?<!127\.0\.0\.1)\b/i,
          /https?:\/\/(bit\.ly|t\.co|tinyurl\.com|goo\.gl|is\.gd|cutt\.ly)\/|https?:\/\/[^/\s]{0,60}xn--/i,
        ),

        harmless:
          /http:\/\/(www\.)?(apache\.org\/licenses|opensource\.org|maven\.apache\.org|java\.sun\.com|xmlns\.|ns\.adobe|schemas\.|purl\.)/i,
      },
    ],
    why: 'Data from this address can be replaced on the way or later.',
    source: 'SLSA',
  },
];
