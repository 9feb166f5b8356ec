import { anyOf, oneOf, pattern } from '../../formats/words.ts';
import type { LineSignal } from './signal.ts';

/** Loaders of packages that turn the file into a text, a style, an address or a worker, and run nothing of it. */
const TEXT_LOADERS = oneOf`
  (raw|file|url|style|css|postcss|sass|less|json|json5|html|svg-inline|worker)-loader text i18n json css domReady
`;
/** The exclamation mark, also as an escape: the bundler reads the text, not its spelling. */
const MARK = String.raw`(?:!|\\x21|\\u0021|\\u\{0*21\}|\\41)`;

/** Directives in source and SQL that run a program. */
export const DIRECTIVES_SIGNALS: readonly LineSignal[] = [
  {
    id: 'directive-runs',
    severity: 'suspect',
    title: 'Directive in source that runs a program',
    why: 'The generator, compiler or editor starts it.',
    paths:
      /\.(go|hs|lhs|rs|c|cc|cpp|h|nim|zig|ml|tex|ltx|sty|cls|org|el|lisp|lsp|asd|pl|pm|scala|sc|java|jsh|cr|lean|cljc?|cljs|edn|rd|rmd|xaml|resx|eps|ps|nb)$/i,
    regex: anyOf(
      /^\/\/go:generate\b|^\s*(\/\/\s*)?#cgo\s+.{0,40}(LDFLAGS|C\w{0,3}FLAGS|FFLAGS|pkg-config)|-toolexec\b/,
      /OPTIONS_GHC.{0,120}(-F\b|-pgm[A-Z]|-fplugin)|\\(immediate\s*)?\\?write\s{0,4}18|\\input\s*\{?\s*\||\\openout/,
      /\{\.\s*compile:|staticExec|gorge\b/,
      /^\/\/>\s*using\s+(plugin|compilerPlugin|jar|repository|java(Opt|Prop|Home|cOpt)|resourceDir|toolkit|option)/,
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
    id: 'style-loads',
    severity: 'suspect',
    title: 'Style sheet that loads a program',
    why: 'The compiler of the styles runs it, in an editor at each save.',
    paths: /\.(p(ost)?css|css|vue|svelte|astro|html?)$/i,
    // Of Tailwind: an installed package by its name is not a file of the project.
    regex: /@(plugin|config)(?![\w-])(?!\s*:|\s+(["'])(?:@[\w.-]+\/)?[a-z][\w.-]*(?:\/[\w-]+){0,4}\2\s*[;{])/i,
    source: 'tailwindcss.com, functions and directives; lesscss.org, plugins',
  },
  {
    id: 'style-calls',
    severity: 'suspect',
    title: 'Style sheet that loads a program',
    why: 'The compiler of the styles runs it, in an editor at each save.',
    paths: /\.(less|styl(us)?|vue|svelte|astro)$/i,
    // Less looks for a file before an installed package.
    regex: anyOf(/@plugin(\s|\/\*(?:[^*]|\*(?!\/)){0,200}\*\/)*(['"(]|$)/, /(^|[\s;{(=])use\s*\(\s*["']/),
    source: 'lesscss.org, plugins; stylus-lang.com, use()',
  },
  {
    id: 'source-loader',
    severity: 'suspect',
    title: 'Import that names a loader',
    why: 'webpack and ncc run the file before the exclamation mark when they build the program.',
    paths: /\.([cm]?[jt]sx?|vue|svelte|mdx|coffee)$/i,
    regex: anyOf(
      pattern()`(?:\bfrom|\bimport|\brequire(?:\.\w+)?|\bdefine)\s{0,20}\(?\[?\s{0,20}["'\`](?!(?:[-!]{0,2}(?:${TEXT_LOADERS})(?:\?[\w&=.,-]{0,80})?!)+[^!"'\`]{0,200}["'\`])[^"'\`]{0,200}?${MARK}`,
      pattern()`["'\`][^"'\`]{0,200}\.[cm]?[jt]sx?${MARK}\.{0,2}(?:\/|["'\`])`,
    ),
    source: 'webpack documentation, inline loaders',
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
];
