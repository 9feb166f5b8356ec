import { ownValue } from '../../core/text/own-value.ts';

/** Files at the top of a project that name the tools that it needs. */
export const TOOL_FILES = [
  '.tool-versions',
  '.nvmrc',
  '.python-version',
  '.ruby-version',
  'rust-toolchain',
  'rust-toolchain.toml',
] as const;

/** The Debian package that has a tool, by the names that asdf and mise use. */
const PACKAGE_OF: Readonly<Record<string, string>> = {
  clojure: 'clojure',
  cmake: 'cmake',
  crystal: 'crystal',
  elixir: 'elixir',
  erlang: 'erlang-base',
  golang: 'golang-go',
  go: 'golang-go',
  gradle: 'gradle',
  haskell: 'ghc',
  java: 'default-jdk-headless',
  julia: 'julia',
  kotlin: 'kotlin',
  lua: 'lua5.4',
  maven: 'maven',
  mysql: 'mariadb-client',
  ocaml: 'ocaml',
  perl: 'perl',
  php: 'php-cli',
  postgres: 'postgresql-client',
  redis: 'redis-tools',
  ruby: 'ruby',
  rust: 'cargo',
  scala: 'scala',
  shellcheck: 'shellcheck',
  terraform: '',
  yarn: '',
  pnpm: '',
  bun: '',
  deno: '',
  dotnet: '',
  'dotnet-core': '',
  zig: '',
};
/** Versions in run-claude's own image; a test compares them with its pins. */
const NODE_MAJOR = 22;
const PYTHON = '3.11';
/** In every image of run-claude's own, of any version. */
const IN_IMAGE: ReadonlySet<string> = new Set(['perl', 'sqlite', 'jq', 'ripgrep', 'make']);

export interface ToolFacts {
  /** The text of each tool file that the project has, by its name. */
  readonly files: ReadonlyMap<string, string>;
  /** Debian packages that are added to the image. */
  readonly packages: readonly string[];
}

/** One line for each tool that the project names and run-claude's own image does not have. */
export function toolHints({ files, packages }: ToolFacts): string[] {
  const hints: string[] = [];
  for (const { file, tool, version } of [...files].flatMap(([file, text]) => toolsIn(file, text))) {
    const named = version === undefined ? tool : `${tool} ${version}`;
    const wanted = /^v?(\d+)/.exec(version ?? '')?.[1];
    if (['node', 'nodejs'].includes(tool)) {
      if (wanted !== undefined && Number(wanted) !== NODE_MAJOR)
        hints.push(`${file} names ${named}; the image has ${NODE_MAJOR}`);
      continue;
    }
    if (tool === 'python') {
      const isOther = /^\d+\.\d+/.exec(version ?? '')?.[0] !== PYTHON;
      if (wanted !== undefined && isOther) hints.push(`${file} names ${named}; the image has ${PYTHON}`);
      continue;
    }
    const known = ownValue(PACKAGE_OF, tool);
    if (IN_IMAGE.has(tool) || known === undefined || packages.includes(known)) continue;
    const how = known === '' ? 'use setup or --image for it' : `packages = ["${known}"] in [environment] adds Debian's`;
    hints.push(`${file} names ${named}, which the image does not have: ${how}`);
  }
  return hints.slice(0, MAX_HINTS);
}

const MAX_HINTS = 8;
/** Other words are left out: the file comes with the repository. */
const TOOL = /^[a-z][a-z0-9-]{0,30}$/;
const VERSION = /^[A-Za-z0-9][A-Za-z0-9.+_-]{0,30}$/;

interface NamedTool {
  readonly file: string;
  readonly tool: string;
  readonly version: string | undefined;
}

function toolsIn(file: string, text: string): NamedTool[] {
  const lines = text.split(/\r?\n/).map((line) => line.replace(/#.*/, '').trim());
  const one = (tool: string, version: string | undefined): NamedTool[] => [
    { file, tool, version: version !== undefined && VERSION.test(version) ? version : undefined },
  ];
  switch (file) {
    case '.nvmrc':
      return one('node', lines.find(Boolean));
    case '.python-version':
      return one('python', lines.find(Boolean));
    case '.ruby-version':
      return one('ruby', lines.find(Boolean)?.replace(/^ruby-/, ''));
    case 'rust-toolchain':
    case 'rust-toolchain.toml':
      return one(
        'rust',
        /^channel\s*=\s*"([^"]*)"/m.exec(lines.join('\n'))?.[1] ?? lines.find((line) => VERSION.test(line)),
      );
    default:
      return lines.flatMap((line) => {
        const [tool = '', version] = line.split(/\s+/);
        return TOOL.test(tool) ? one(tool, version) : [];
      });
  }
}
