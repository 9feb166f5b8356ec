import { anyOf, oneOf, pattern } from '../../formats/words.ts';
import type { Rule } from '../../judges/rule.ts';

/** Loaders of packages that turn the file into a text, a style, an address or a worker, and run nothing of it. */
const TEXT_LOADERS = oneOf`
  (raw|file|url|style|css|postcss|sass|less|json|json5|html|svg-inline|worker)-loader text i18n json css domReady
`;
/** The exclamation mark, also as an escape: the bundler reads the text, not its spelling. */
const MARK = String.raw`(?:!|\\x21|\\u0021|\\u\{0*21\}|\\41)`;

const IMPORTS = String.raw`(?:\bfrom|\bimport|\brequire(?:\.\w+)?|\bdefine)\s{0,20}\(?\[?\s{0,20}`;
/** Text loaders run nothing; any other file before the mark is a loader. */
const LOADER_IN_IMPORT = pattern()`${IMPORTS}["'\`](?!(?:[-!]{0,2}(?:${TEXT_LOADERS})(?:\?[\w&=.,-]{0,80})?!)+[^!"'\`]{0,200}["'\`])[^"'\`]{0,200}?${MARK}`;
const LOADER_IN_TEXT = pattern()`["'\`][^"'\`]{0,200}\.[cm]?[jt]sx?${MARK}\.{0,2}(?:\/|["'\`])`;

/** Directives in source and SQL that run a program. */
export const DIRECTIVES_SIGNALS: readonly Rule[] = [
  {
    id: 'directive-runs',
    title: 'Directive in source that runs a program',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: [
      '*.{go,hs,lhs,rs,c,cc,cpp,h,nim,zig,ml,tex,ltx,sty,cls,org,el,lisp,lsp,asd,pl,pm,scala,sc,java,jsh,cr,lean,clj,cljc,cljs,edn,rd,rmd,xaml,resx,eps,ps,nb}',
    ],
    look: [
      {
        kind: 'signal',
        danger: anyOf(
          /^\/\/go:generate\b|^[ \t\v\f]*(\/\/[ \t]*)?#cgo\s.{0,40}(LDFLAGS|C\w{0,3}FLAGS|FFLAGS|pkg-config)|-toolexec\b/,
          /OPTIONS_GHC.{0,120}(-F\b|-pgm[A-Z]|-fplugin)|\\(immediate\s*)?\\?write\s{0,4}18|\\input\s*(?:\{\s*)?\||\\openout/,
          /\{\.\s*compile:|staticExec|gorge\b/,
          /^\/\/>\s*using\s+(plugin|compilerPlugin|jar|repository|java(Opt|Prop|Home|cOpt)|resourceDir|toolkit|option)/,
          /^\/\/(DEPS|REPOS|JAVAAGENT|JAVA_OPTIONS|RUNTIME_OPTIONS|JAVAC_OPTIONS|COMPILE_OPTIONS|FILES|SOURCES)\s/,
          /\$\(\s*runIO\b|\$\$?\(.{0,80}\bcallCommand\b|\{\{\s*(`|run\(|system\()|\{%\s*(`|system\()/,
          /^#eval\b.{0,80}\bIO\.|^[ \t\v\f]*run_cmd\b|%\s*!\s*TEX\s+(program|options|TS-program)\s*=|^%\s*arara:/,
          /\\directlua\b|\\ShellEscape\b|\[\[(elisp|shell):|#=\(|#\.\(.{0,40}(run|sh|exec|system)|\\Sexpr\b/,
          /\bObjectDataProvider\b|x-microsoft\.net\.object\.(binary|soap)|%pipe%|\brunlibfile\b|InitializationCell/,
          /include_bytes!\(\s*"\/|env!\(\s*"[^"]{0,40}(KEY|TOKEN|SECRET)/,
        ),
      },
    ],
    why: 'The generator, compiler or editor starts it.',
    source: 'go help generate; GHC users guide; latexmk(1)',
  },
  {
    id: 'style-loads',
    title: 'Style sheet that loads a program',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: ['*.{pcss,postcss,css,vue,svelte,astro,htm,html}'],
    look: [
      // Of Tailwind: an installed package by its name is not a file of the project.
      {
        kind: 'signal',
        danger: /@(plugin|config)(?![\w-])(?!\s*:|\s+(["'])(?:@[\w.-]+\/)?[a-z][\w.-]*(?:\/[\w-]+){0,4}\2\s*[;{])/i,
      },
    ],
    why: 'The compiler of the styles runs it, in an editor at each save.',
    source: 'tailwindcss.com, functions and directives; lesscss.org, plugins',
  },
  {
    id: 'style-calls',
    title: 'Style sheet that loads a program',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: ['*.{less,styl,stylus,vue,svelte,astro}'],
    look: [
      // Less looks for a file before an installed package.
      {
        kind: 'signal',
        danger: anyOf(/@plugin(\s|\/\*(?:[^*]|\*(?!\/)){0,200}\*\/)*(['"(]|$)/, /(^|[\s;{(=])use\s*\(\s*["']/),
      },
    ],
    why: 'The compiler of the styles runs it, in an editor at each save.',
    source: 'lesscss.org, plugins; stylus-lang.com, use()',
  },
  {
    id: 'source-loader',
    title: 'Import that names a loader',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: ['*.{,c,m}{j,t}s{,x}', '*.{vue,svelte,mdx,coffee}'],
    look: [
      {
        kind: 'signal',
        danger: anyOf(LOADER_IN_IMPORT, LOADER_IN_TEXT),
      },
    ],
    why: 'webpack and ncc run the file before the exclamation mark when they build the program.',
    source: 'webpack documentation, inline loaders',
  },
  {
    id: 'sql-runs',
    title: 'SQL that runs programs or reads files',
    family: 'content',
    when: 'reading, running or opening the file',
    severity: 'suspect',
    files: [
      '*.{sql,psql,sqlite,ddl}',
      '{migration,migrations,migrate,seed,seeds,alembic/versions,changelog,changelogs}/**',
      '*changelog*.{xml,yml,yaml,json}',
    ],
    look: [
      {
        kind: 'signal',
        danger: anyOf(
          /\bCOPY\b.{0,200}\bPROGRAM\b|^(FROM|TO)\s+PROGRAM\b|\bCREATE\s+ALIAS\b|\bexecuteCommand\b/i,
          /^\\set\s.{0,80}`|^\\(o|g|w|gx|copy|out|write|setenv)\b.{0,200}(\||PAGER|EDITOR|SHELL)/i,
          /^\.(output|once|import|read|excel)\s*[|"]|\b(writefile|edit|readfile)\s*\(/i,
          /\bATTACH\s+(DATABASE\s+)?'(\/|~|\.\.)|\bINSTALL\s+\w+\s+FROM\b|LOAD\s+DATA\s+LOCAL|sp_OACreate/i,
          /\bexecutable\s*\(|'EXECUTABLE'|LOAD_FILE\s*\(|INTO\s+(OUT|DUMP)FILE|xp_cmdshell/i,
          /LANGUAGE\s+(c|plpython\w*|plperlu|pltclu)\b|CREATE\s+EXTENSION|^[ \t\v\f]*\\!|^[ \t\v\f]*\.(system|shell)\b/i,
          /\bsystem\s*\(|\bDROP\s+(DATABASE|ROLE|USER)\b|\bGRANT\s+ALL\b|load_extension\s*\(/i,
        ),
      },
    ],
    why: 'The database server or client executes it.',
    source: 'PostgreSQL COPY; sqlite3 manual',
  },
];
