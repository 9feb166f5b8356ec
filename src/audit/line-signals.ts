import type { Severity } from '../types/finding.ts';
import { anyOf, oneOf, pattern } from './formats/words.ts';

/** What runs a text, in the languages of a project. */
const EVALUATORS = oneOf`
  eval exec Function execScript setTimeout runInThisContext loadstring Invoke-Expression iex system popen
`;
const OPENS_ARGUMENT = /[(\s$"'`]/;
const DECODERS = oneOf`
  atob b64decode base64 fromCharCode fromCodePoint unhexlify fromhex decompress marshal codecs\.decode
  FromBase64String gzinflate str_rot13 unescape -d\b
`;
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
const ASSISTANTS = oneOf`
  claude copilot cursor gemini codex chatgpt assistant
`;
const IGNORED_OBJECTS = oneOf`
  all any every\w* the your this these those what previous prior above earlier other my its instructions?
  rules? safety security user users warnings? that
`;
const PERMISSION_FILES = oneOf`
  androidmanifest\.xml network_security_config\.xml info\.plist manifest\.json tauri\.conf\.json
  snapcraft\.ya?ml .*\.entitlements .*flatpak.*\.(json|ya?ml) capabilities\/[^/]*\.json _headers vercel\.json
  netlify\.toml nginx\.conf [^/]*(iam|policy|rbac|role)[^/]*\.(json|ya?ml|tf)
`;
const BROWSER_PERMISSIONS = oneOf`
  nativeMessaging debugger proxy webRequest(Blocking)? cookies management downloads\.open clipboardRead
  [*h][\w*]*:\/\/\*\/\*
`;
const HARMLESS_HOSTS = oneOf`
  localhost 127\. 0\.0\.0\.0 \[::1\] 10\. 192\.168\. www\.w3\.org schemas?\. json-schema\.org xmlns purl\.org
  example\. .{0,40}\.(test|local|example|invalid)\b
`;

/** Something that a new line of a file gives away by itself. Every expression is linear. */
export interface LineSignal {
  readonly id: string;
  readonly severity: Severity;
  readonly title: string;
  readonly why: string;
  readonly paths: RegExp;
  readonly except?: RegExp;
  readonly regex: RegExp;
  readonly safe?: RegExp;
  readonly source: string;
}

const CODE =
  /\.(js|cjs|mjs|jsx|ts|cts|mts|tsx|vue|svelte|py|rb|php|pl|lua|sh|bash|zsh|fish|ps1|bat|cmd|c|h|cc|cpp|hpp|cs|java|kt|kts|scala|go|rs|swift|r|jl|ex|exs|hs|clj|dart|groovy|gradle|txt)$|(^|\/)[^.]*$/i;
const C_CODE = /\.(c|h|cc|cpp|cxx|hpp|hh|m|mm|cu|ino)$/i;
const ANY = /./;
const TESTS =
  /(^|\/)(tests?|spec|specs|__tests__|testing)\/|[._-](test|spec)s?\.[a-z]+$|_test\.go$|(^|\/)test_[^/]*\.py$/i;

/** What a new line of any file can give away. */
export const LINE_SIGNALS: readonly LineSignal[] = [
  {
    id: 'text-hidden-right',
    severity: 'suspect',
    title: 'Code pushed off the screen',
    why: 'A long run of blanks hides what follows it.',
    paths: CODE,
    // Lines come trimmed, so something stands before the run; the look-behind keeps this linear.
    regex: /(?<![ \t])[ \t]{80,}[^\s|*/#\\]/,
    safe: /^["'|]/,
    source: 'PyPI malware reports',
  },
  {
    id: 'text-codec',
    severity: 'suspect',
    title: 'Unusual source encoding declared',
    why: 'The interpreter decodes the file into other code than is shown.',
    paths:
      /\.(py|pyw|rb|xml|xsd|xslt?|svg|plist|pom|\w*proj|config|props|targets|resx|xaml|xhtml)(\.dist)?$|(^|\/)[^.]*$/i,
    regex: /^#.{0,40}coding[:=]\s*[\w-]|^\s{0,4}<\?xml[^>]{0,80}encoding\s{0,4}=/i,
    safe: /coding\s{0,4}[:=]\s{0,4}["']?(utf-?8(-sig)?|utf-16|latin-?1|ascii|us-ascii|iso-8859-\d+|cp1252|windows-125\d|gb2312|gbk|big5|euc-jp|shift_jis)\b/i,
    source: 'PEP 263',
  },
  {
    id: 'text-splice',
    severity: 'suspect',
    title: 'Comment that swallows the next line',
    why: 'A backslash at its end makes the next line a comment.',
    paths: C_CODE,
    regex: /\/\/.*\\$|\?\?\//,
    source: 'C standard, translation phases',
  },
  {
    id: 'text-obfuscated',
    severity: 'suspect',
    title: 'Code that decodes and runs text',
    why: 'What runs cannot be read.',
    paths: ANY,
    except: /\.(md|mdx|rst|lock|map|svg)$|\.min\.js$/i,
    regex: anyOf(
      pattern('i')`\b(${EVALUATORS})\b\s*${OPENS_ARGUMENT.source}.{0,120}\b(${DECODERS})`,
      /\b(base64\s+(-d|--decode|-D)|xxd\s+-r)\b.{0,200}\|\s*(ba|z|da)?sh\b|\bmarshal\.loads\(/i,
      /-e(nc|ncodedcommand)\s+[A-Za-z0-9+/=]{40}|\beval\s+["']?\$\(.{0,80}base64/i,
      /_0x[0-9a-f]{4,}\b.{0,200}_0x[0-9a-f]{4,}|\$'(\\x[0-9a-f]{2}){6}/i,
    ),
    source: 'malware reports',
  },
  {
    id: 'text-blob',
    severity: 'note',
    title: 'A long encoded text next to a call',
    why: 'It may be data, or what a decoder runs.',
    paths: /\.(js|cjs|mjs|ts|py|rb|php|pl|lua|sh|ps1)$/i,
    except: TESTS,
    regex: /\w\(\s{0,4}["'`][A-Za-z0-9+/=]{200}|\w\(\s{0,4}["'`][0-9a-fA-F]{200}/,
    source: 'malware reports',
  },
  {
    id: 'text-built-word',
    severity: 'suspect',
    title: 'Dynamic look-up of an executor',
    why: 'The word that runs something is put together so that no search finds it.',
    paths: CODE,
    regex: anyOf(
      /\[\s*['"](ev|ex|re|req|Fun|chi|pro)['"]\s*\+\s*['"]|\\u00[67][0-9a-f](?=[a-z]{2,6}\s*\()/,
      /[\w.]\\u0{0,2}\{?[67][0-9a-f]\}?[a-z]*\s*\(|getattr\(\s*__builtins__/,
      /__import__\(\s*["'][^"']{0,20}["']\s*\+|\$\{IFS\}|\$0\s*<<<|import\(\s*["'`]data:/,
      /\brequire\(\s*["'][^"']{1,20}["']\s*\+|__builtins__\s*\[/,
    ),
    source: 'ECMAScript identifiers',
  },
  {
    id: 'text-built-global',
    severity: 'suspect',
    title: 'Dynamic look-up of an executor',
    why: 'The word that runs something is put together so that no search finds it.',
    // In other languages it is text for a browser or an engine.
    paths: /\.(js|cjs|mjs|jsx|ts|cts|mts|tsx|vue|svelte|html?|ejs|hbs)$|(^|\/)[^.]*$/i,
    regex: /globalThis\[\s*[^'"\]]|\bReflect\.get\(\s*globalThis/,
    source: 'ECMAScript, the global object',
  },
  {
    id: 'shell-pipe',
    severity: 'suspect',
    title: 'Downloaded text is run',
    why: 'Whoever has that server decides what runs.',
    paths: /(\.(sh|bash|zsh|fish|ps1|bat|cmd|mk|ya?ml|json|toml|py|rb|js|ts)|(^|\/)[^.]*)$/i,
    regex:
      /\b(curl|wget|fetch|iwr|Invoke-WebRequest)\b[^|;]{0,300}\|\s*(sudo\s+(-\w+\s+)*)?((ba|z|da|k)?sh|python[0-9.]*|node|perl|ruby|iex)\b|\b(ba|z)?sh\s+(-c\s+)?["']?[<$]\(\s*(curl|wget)/i,
    source: 'common practice of installers and droppers',
  },
  {
    id: 'code-from-outside',
    severity: 'suspect',
    title: 'What comes from outside is run',
    why: 'Whoever answers or asks decides what runs.',
    paths: CODE,
    except: /\.txt$/i,
    regex: anyOf(
      pattern()`\b(${EXECUTORS})\s*\(?\s*.{0,40}(\$_(GET|POST|REQUEST|COOKIE)|\b(${HTTP_CLIENTS})\b.{0,10}\b(get|open|request|urlopen|urlretrieve)\b)`,
      pattern()`\b(IEX|iex|Iex|Invoke-Expression|invoke-expression)\b.{0,80}(${POWERSHELL_DOWNLOADS})`,
      /\bDownloadString\(.{0,120}\|\s*(iex|IEX)|getRuntime\(\)\.exec\(.{0,40}request/,
      /child_process.{0,60}exec\w*\(.{0,60}Buffer\.from\(|\bimport\(\s*["'`]https?:/,
      /\[\s*["']constructor["']\s*\]\s*[[(.].{0,20}constructor|(\.|source)\s+<\(\s*(curl|wget)/,
      /\|\s*rev\s*\|\s*(ba|z|da)?sh\b/,
      /\b(curl|wget)\b.{0,120}\s(-o|-O|>)\s*([^\s;&|]{1,80})[^\n]{0,40}(;|&&)\s*(chmod \S{1,6} \S{1,80}\s*(;|&&)\s*)?(sudo\s+)?((ba|z|da)?sh|python3?|\.)\s+\S/,
    ),
    source: 'malware reports',
  },
  {
    id: 'shell-backdoor',
    severity: 'suspect',
    title: 'A shell for somebody else, or one that stays',
    why: 'It opens the machine, or starts again at the next login.',
    paths: CODE,
    except: /\.txt$/i,
    regex: anyOf(
      /\/dev\/(tcp|udp)\/|\b(nc|ncat|netcat)\s+(-\w+\s+){0,4}(-e|-c|--exec)\b|\bsh\s+-i\b.{0,60}(\||>&|nc )/,
      /pty\.spawn\(|os\.dup2\(.{0,60}(fileno|,\s*[012]\))|\|\s*crontab\s+-|crontab\s+-r/,
      pattern()`\.(${STARTUP_FILES})`,
      /\/etc\/(sudoers|ld\.so\.preload|cron\.|crontab|profile\.d|rc\.local)/,
      /chmod\s+(u\+s|g\+s|[2467][0-7]{3})\b|LaunchAgents\/|CurrentVersion\\{1,2}Run\b|schtasks\s+\/create/,
      /unset\s+HISTFILE|HISTFILE=\/dev\/null|history\s+-c\b|\b(LD_PRELOAD|DYLD_INSERT_LIBRARIES)=/,
    ),
    // A comment; a text that is printed, with nothing in it that is expanded and nothing behind it.
    safe: /^#+\s(?!\s*(define|include|import|pragma|if|error)\b)|^(echo|printf|print|puts|say)(\s-[a-z]{1,3})?[\s(]{1,4}("[^"`${\\]*"|'[^'\\]*')\)?;?$/,
    source: 'MITRE ATT&CK, persistence and command and control',
  },
  {
    id: 'reads-credentials',
    severity: 'suspect',
    title: 'A place where credentials are kept',
    why: 'Code of a project has no business with the keys of the person who runs it.',
    paths: CODE,
    except: /\.txt$|(^|\/)docs?\//i,
    regex: anyOf(
      /\.ssh\/id_[a-z0-9]+|\.aws\/credentials|\.config\/gcloud|application_default_credentials/,
      /\.azure\/(accessTokens|msal_token)|\.kube\/config\b|\.docker\/config\.json/,
      /(HOME|homedir\(\)|~|expanduser\(.{0,3}~)["'`\s+,/}]{0,8}\.(npmrc|netrc|pypirc|git-credentials|claude(\.json|\/\.credentials)|pgpass|gem\/credentials|cargo\/credentials)/,
      /\.git-credentials|\.claude\/\.credentials|169\.254\.169\.254|metadata\.google\.internal/,
      /find-(generic|internet)-password|Login Data|Local State\b.{0,40}encrypted_key|\/etc\/shadow\b/,
      /wallet\.dat|\bMetaMask\b|secret-tool\s+(lookup|search)/,
    ),
    source: 'MITRE ATT&CK, credential access; Shai-Hulud reports',
  },
  {
    id: 'csv-formula',
    severity: 'suspect',
    title: 'Spreadsheet formula in a data file',
    why: 'Opening it in a spreadsheet evaluates it.',
    paths: /\.(csv|tsv|slk|iqy|dif)$/i,
    regex: /(^|[,;\t]"?)\s?([=+@-](?=[A-Za-z@=+]{1,40}(\(|\||!))|=\(|=[^,;\t]{1,40}\|)/,
    source: 'OWASP, CSV injection',
  },
  {
    id: 'agent-instruction',
    severity: 'suspect',
    title: 'Text addressed to an agent',
    why: 'The next assistant that reads it may do what it says.',
    paths: ANY,
    except: /\.(lock|map)$/i,
    regex: anyOf(
      /\bignore\s+(all\s+|any\s+)?(the\s+|your\s+)?(previous|prior|above|earlier)\s+(instructions|prompts?|rules)/i,
      /\bdisregard\s+(all\s+|any\s+)?(the\s+|your\s+)?(previous|prior|above)\b/i,
      /\b(AI|LLM)\s+(agents?|assistants?|models?)\s+(must|should|shall|have to)\b/i,
      pattern(
        'i',
      )`\b(${ASSISTANTS})[,:]?\s+(you\s+)?(must|should now|shall)\s+(run|execute|call|fetch|read|send|install)\b`,
      pattern('i')`<!--.{0,200}\b(you must|(?<![-\w])ignore\s+(${IGNORED_OBJECTS})|run the|execute|system prompt)\b`,
      /\[system\]\(#|<\|im_start\|>/i,
    ),
    source: 'prompt-injection literature',
  },
  {
    id: 'html-active',
    severity: 'suspect',
    title: 'Active content in a document or page',
    why: 'Opening it runs a script or loads from another host.',
    paths:
      /\.(html?|xhtml|svg|md|mdx|markdown|css|vue|hbs|ejs|erb|twig|njk|pug|cshtml|pdf|ipynb)$|_document\.|layout\./i,
    except: /(^|\/)(tests?|testdata|__tests__|specs?|fixtures|__fixtures__)\//i,
    regex: anyOf(
      /<script[^>]{0,300}\ssrc\s*=\s*["']?(https?:)?\/\//i,
      /<(iframe|object|embed)\b[^>]{0,200}(src|data)\s*=\s*["']?(https?:)?\/\/|\bjavascript:|<foreignObject/i,
      /@import\s+(url\()?["']?https?:/i,
      /<link[^>]{0,200}href\s*=\s*["']?https?:\/\/[^"'>]{0,200}[^>]{0,100}stylesheet|\/(OpenAction|Launch)\b/i,
      /\/JavaScript\s*(\(|<|\d{1,9} \d{1,5} R)|<img[^>]{0,200}\bon(error|load)\s*=|<svg[^>]{0,200}\bonload\s*=/i,
      /\]\((search-ms|ms-(?!windows-store)[\w-]{1,30}|command|smb|ldap):/i,
    ),
    source: 'SVG security; Magecart reports',
  },
  {
    id: 'svg-script',
    severity: 'suspect',
    title: 'Script in a picture',
    why: 'Opening it in a browser runs it.',
    paths: /\.svgz?$/i,
    regex: /<script|\bon[a-z]{3,12}\s*=|<!ENTITY/i,
    source: 'SVG security',
  },
  {
    id: 'xml-entity',
    severity: 'suspect',
    title: 'XML entity or outside document type',
    why: 'Parsers read files or grow without end.',
    paths: /\.(xml|xsd|xsl|svg|plist|pom|csproj|config|resx|xhtml|dtd)$/i,
    regex: /<!ENTITY|<!DOCTYPE[^>]{0,200}SYSTEM\s+["'](?!http:\/\/www\.(apple|w3)\.)/i,
    source: 'billion laughs, XXE',
  },
  {
    id: 'check-weakened',
    severity: 'suspect',
    title: 'A check is switched off',
    why: 'What is fetched or pushed is no longer verified.',
    paths: ANY,
    except:
      /\.(md|mdx|rst|adoc|lock)$|(^|\/)(docs?|test|tests|fixtures)\/|(^|\/)(changelog|changes|history|news|release[-_]?notes)[^/]{0,40}\.txt$/i,
    regex: anyOf(
      /--no-verify(?![\w-])|GOFLAGS=.{0,40}-insecure|GONOSUMDB|GONOSUMCHECK|GOINSECURE|gpgcheck\s*=\s*0/i,
      /\[trusted=yes\]|--allow-unauthenticated|--insecure\b|curl\s+(-\w*k\b|[^|;]{0,200}\s-k\s)/i,
      /verify\s*=\s*False|rejectUnauthorized\s*:\s*false|NODE_TLS_REJECT_UNAUTHORIZED/i,
      /InsecureSkipVerify\s*:\s*true|--trusted-host|strict-ssl\s*=?\s*false|--no-check-certificate/i,
      /CURLOPT_SSL_VERIFYPEER\s*,\s*(0|false)|StrictHostKeyChecking[= ]no|--disable-integrity|SSL_VERIFY_NONE/i,
      /check_hostname\s*=\s*False/i,
    ),
    source: 'SLSA; package manager documentation',
  },
  {
    id: 'test-neutralised',
    severity: 'note',
    title: 'A test is skipped or made toothless',
    why: 'Continuous integration stays green without checking.',
    paths: ANY,
    except: /\.(md|rst)$/i,
    regex: anyOf(
      /\b(it|test|describe|context|suite)\.(skip|todo|only)\b|\bx(it|describe|test)\(|@(Ignore|Disabled)\b/,
      /#\[ignore|\bt\.Skip(Now|f)?\(|pytest\.mark\.(skip|xfail)|unittest\.skip|\|\|\s*true\b|--passWithNoTests/,
      /\bcontinue-on-error:\s*true|allow_failure:\s*true|\bif:\s*(false|\$\{\{\s*false)/,
    ),
    source: 'documentation of the test runners',
  },
  {
    id: 'check-suppressed',
    severity: 'note',
    title: 'A linter or scanner is silenced',
    why: 'The tool no longer reports what stands there.',
    paths: ANY,
    except: /\.(md|rst)$/i,
    regex: anyOf(
      /eslint-disable(?!-next-line\s+[\w-]+\/?(format|style|indent|max-len))|@ts-(ignore|nocheck)/,
      /#\s*(noqa|nosec|type:\s*ignore|pylint:\s*disable)|\/\/\s*(nolint|NOSONAR)|gitleaks:allow|nosemgrep/,
      /semgrep:\s*nosem|#pragma\s+warning\s+disable|CodeQL\s*\[|lgtm\s*\[|@SuppressWarnings|rubocop:disable/,
      /biome-ignore/,
    ),
    source: 'documentation of the tools',
  },
  {
    id: 'permissions-widened',
    severity: 'suspect',
    title: 'Wider permissions asked for',
    why: 'What is installed or deployed may do more than before.',
    paths: anyOf(pattern('i')`(^|\/)(${PERMISSION_FILES})$`, /\.(js|ts|jsx|tsx|html)$/i),
    except: /\.d\.ts$/i,
    regex: anyOf(
      /<uses-permission|NSAllowsArbitraryLoads|"permissions"\s*:|"host_permissions"|"<all_urls>"/i,
      /nodeIntegration\s*:\s*true|contextIsolation\s*:\s*false|webSecurity\s*:\s*false|'unsafe-(inline|eval)'/i,
      /Access-Control-Allow-Origin["']?\s*[:,]\s*["']?\*|"(Action|Resource)"\s*:\s*"\*"|plugs:/i,
      /--filesystem=(host|home)|com\.apple\.security\.[\w.-]*(disable|allow)/i,
      /android:(debuggable|usesCleartextTraffic|exported)="true"|<certificates\s+src="user"/i,
      pattern('i')`^"(${BROWSER_PERMISSIONS})",?$`,
      /verbs:\s*\[?\s*["']\*/i,
    ),
    source: 'platform documentation',
  },
  {
    id: 'directive-runs',
    severity: 'suspect',
    title: 'A directive in source runs a program',
    why: 'The generator, compiler or editor starts it.',
    paths:
      /\.(go|hs|lhs|rs|c|cc|cpp|h|nim|zig|ml|tex|ltx|sty|cls|org|el|lisp|lsp|asd|pl|pm|scala|sc|java|jsh|cr|lean|cljc?|cljs|edn|rd|rmd|xaml|resx|eps|ps|nb)$/i,
    regex: anyOf(
      /^\/\/go:generate\b|^\s*(\/\/\s*)?#cgo\s+.{0,40}(LDFLAGS|C\w{0,3}FLAGS|FFLAGS|pkg-config)|-toolexec\b/,
      /OPTIONS_GHC.{0,120}(-F\b|-pgm[A-Z]|-fplugin)|\\(immediate\s*)?\\?write18|\\input\s*\{?\s*\||\\openout/,
      /\{\.\s*compile:|staticExec|gorge\b/,
      /^\/\/>\s*using\s+(plugin|jar|repository|java(Opt|Prop|Home|cOpt)|resourceDir|toolkit|option)/,
      /^\/\/(DEPS|REPOS|JAVAAGENT|JAVA_OPTIONS|RUNTIME_OPTIONS|JAVAC_OPTIONS|COMPILE_OPTIONS|FILES|SOURCES)\s/,
      /\$\(\s*runIO\b|\$\$?\(.{0,80}\bcallCommand\b|\{\{\s*(`|run\(|system\()|\{%\s*(`|system\()/,
      /^#eval\b.{0,80}\bIO\.|^\s*run_cmd\b|%\s*!\s*TEX\s+(program|options|TS-program)\s*=|^%\s*arara:/,
      /\\directlua\b|\\ShellEscape\b|\[\[(elisp|shell):|#=\(|#\.\(.{0,40}(run|sh|exec|system)|\\Sexpr\b/,
      /\bObjectDataProvider\b|x-microsoft\.net\.object\.(binary|soap)|%pipe%|\brunlibfile\b|InitializationCell/,
      /include_bytes!\(\s*"\/|env!\(\s*"[^"]{0,40}(KEY|TOKEN|SECRET)/,
    ),
    source: 'go help generate; GHC users guide; latexmk(1)',
  },
  {
    id: 'sql-runs',
    severity: 'suspect',
    title: 'SQL that runs programs or reads files',
    why: 'The database server or client executes it.',
    paths:
      /\.(sql|psql|sqlite|ddl)$|(^|\/)(migrations?|migrate|seeds?|alembic\/versions|changelogs?)\/|changelog[^/]*\.(xml|ya?ml|json)$/i,
    regex: anyOf(
      /\bCOPY\b.{0,200}\bPROGRAM\b|^(FROM|TO)\s+PROGRAM\b|\bCREATE\s+ALIAS\b|\bexecuteCommand\b/i,
      /^\\set\s.{0,80}`|^\\(o|g|w|gx|copy|out|write|setenv)\b.{0,200}(\||PAGER|EDITOR|SHELL)/i,
      /^\.(output|once|import|read|excel)\s*[|"]|\b(writefile|edit|readfile)\s*\(/i,
      /\bATTACH\s+(DATABASE\s+)?'(\/|~|\.\.)|\bINSTALL\s+\w+\s+FROM\b|LOAD\s+DATA\s+LOCAL|sp_OACreate/i,
      /\bexecutable\s*\(|'EXECUTABLE'|LOAD_FILE\s*\(|INTO\s+(OUT|DUMP)FILE|xp_cmdshell/i,
      /LANGUAGE\s+(c|plpython\w*|plperlu|pltclu)\b|CREATE\s+EXTENSION|^\s*\\!|^\s*\.(system|shell)\b/i,
      /\bsystem\s*\(|\bDROP\s+(DATABASE|ROLE|USER)\b|\bGRANT\s+ALL\b|load_extension\s*\(/i,
    ),
    source: 'PostgreSQL COPY; sqlite3 manual',
  },
  {
    id: 'diff-lookalike',
    severity: 'note',
    title: 'Content that looks like a diff',
    why: 'A viewer of diffs may be fooled; this one marks every line itself.',
    paths: ANY,
    except: /\.(diff|patch|md|rst)$|(^|\/)(test|tests|fixtures|testdata)\//i,
    regex: /^(\+\+\+ b\/|--- a\/|\+\+ b\/|-- a\/|@@ -\d+(,\d+)? \+\d+|diff --git a\/|\\ No newline at end of file)/,
    source: 'unified diff format',
  },
  {
    id: 'new-host',
    severity: 'note',
    title: 'An address without encryption, an IP address or a shortener',
    why: 'What is fetched there can be replaced on the way or later.',
    paths: ANY,
    except: /\.(md|mdx|rst|svg|lock|html?)$|(^|\/)(docs?|test|tests|fixtures|licenses?)\//i,
    regex: anyOf(
      pattern('i')`\bhttp:\/\/(?!${HARMLESS_HOSTS})[a-z0-9.-]{4,}`,
      /https?:\/\/(\d{1,3}\.){3}\d{1,3}(?<!127\.0\.0\.1)\b/i,
      /https?:\/\/(bit\.ly|t\.co|tinyurl\.com|goo\.gl|is\.gd|cutt\.ly)\/|https?:\/\/[^/\s]{0,60}xn--/i,
    ),
    safe: /http:\/\/(www\.)?(apache\.org\/licenses|opensource\.org|maven\.apache\.org|java\.sun\.com|xmlns\.|ns\.adobe|schemas\.|purl\.)/i,
    source: 'SLSA',
  },
  {
    id: 'commit-words',
    severity: 'suspect',
    title: 'Words that skip checks or speak for others',
    why: 'In a commit message template they skip CI, close issues or sign for somebody.',
    paths: /(^|\/)(\.gitmessage|\.git-commit-template|commit[-_]?template[^/]*)$/i,
    regex:
      /\[(skip ci|ci skip|no ci|skip actions)\]|\*\*\*NO_CI|^(signed-off-by|reviewed-by|co-authored-by|acked-by):|^BREAKING CHANGE|^release-as:|\b(closes|fixes|resolves) #\d/i,
    source: 'GitHub, GitLab and semantic-release documentation',
  },
];
