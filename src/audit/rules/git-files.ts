import { type ConfigEntry, parseConfig } from '../../core/git/config-parse.ts';
import { oneOf, pattern } from '../formats/words.ts';
import { ANY_CHANGE, type JudgedText, type Rule } from '../judges/rule.ts';
import { hostOf } from '../locks/lockfiles.ts';
import { NEXT_HOOKS } from './plain-releases.ts';

export const gitFileRules: readonly Rule[] = [
  {
    id: 'git-attributes',
    family: 'git files',
    when: 'git status, diff, checkout, archive',
    severity: 'suspect',
    files: ['.gitattributes'],
    look: [
      { kind: 'custom', see: newDrivers },
      { kind: 'custom', see: oddAttributes },
      { kind: 'lines', removed: /\s(filter=|text|eol=lf)/ },
    ],
    why: 'Attributes switch filters and drivers on, hide content from diffs, or change bytes at checkout.',
    source: 'gitattributes(5)',
  },
  {
    id: 'git-modules-file',
    title: 'Suspect submodule',
    family: 'git files',
    when: 'git submodule update, clone --recurse-submodules',
    severity: 'suspect',
    files: ['.gitmodules'],
    look: [{ kind: 'custom', see: submodules }],
    why: 'A submodule adds another repository, at the path and URL in this file.',
    source: 'CVE-2018-11235, CVE-2018-17456, CVE-2025-48384',
  },
  {
    id: 'git-lfsconfig',
    family: 'git files',
    when: 'git lfs fetch, push',
    severity: 'suspect',
    files: ['.lfsconfig'],
    look: [
      {
        kind: 'lines',
        danger: /url|access|pushurl|fetchexclude|fetchinclude|transfer|extension|remote/i,
        harmless: /^[#;]/,
      },
    ],
    why: 'Content and credentials go to the server that it names.',
    source: 'git-lfs-config(5)',
  },
  {
    id: 'git-mailmap',
    family: 'git files',
    when: 'git log, shortlog, blame',
    severity: 'suspect',
    files: ['.mailmap', '.git-blame-ignore-revs', '.gitignore-revs'],
    look: [{ kind: 'lines', danger: /^[^#\s]/, harmless: /^([0-9a-f]{40}|[0-9a-f]{64})(\s*#.*)?$/i }],
    why: 'Git shows work under another name, or attributes lines to another author.',
    source: 'gitmailmap(5), git-blame(1)',
  },
  {
    id: 'git-signers',
    family: 'git files',
    when: 'git log --show-signature, merge --verify-signatures',
    severity: 'suspect',
    files: ['allowed_signers', '*allowed_signers*', '*allowed-signers*', 'revoked_keys'],
    look: [{ kind: 'lines', danger: /^[^#]/, removed: /^[^#]/ }],
    why: 'Every added key counts as a trusted signer.',
    source: 'ssh-keygen(1)',
  },
  {
    id: 'git-hook-managers',
    title: 'Suspect hook file',
    family: 'git files',
    when: 'the next commit, checkout or push',
    severity: 'suspect',
    files: [
      '.husky/**',
      '.githooks/**',
      '.hooks/**',
      'git-hooks/**',
      'git_hooks/**',
      '.git-hooks/**',
      '.huskyrc*',
      '{.,}lefthook{,-local}.{yml,yaml,toml,json}',
      '.config/lefthook*',
      '.pre-commit-config.y{,a}ml',
      '.pre-commit-hooks.yaml',
      '.overcommit.yml',
      'captainhook.json',
      'grumphp.yml{,.dist}',
      '.rusty-hook.toml',
      '.gitleaks-hooks/**',
      'prek.toml',
      'simple-git-hooks.{json,js,cjs}',
      '.trunk/**',
      'common/git-hooks/**',
      'githooks/**',
      '{dev,tools,scripts,etc,contrib,misc}/{git-,git,}hooks/**',
      'hooks/{pre,post,commit,prepare}-{commit,push,msg,checkout,merge,rewrite,commit-msg,receive,applypatch}{,.sh,.py,.js}',
      'githooks.y{,a}ml',
      '{.,}grumphp.y{,a}ml{,.dist}',
      '{.,}hk.pkl',
      '.husky.json',
      '.simple-git-hooks.{json,js,cjs,mjs}',
      '.cargo-husky/**',
      '!.husky/README*',
      '!.githooks/README*',
      '!src/hooks/**',
    ],
    look: [
      ANY_CHANGE,
      {
        kind: 'keys',
        format: 'auto',
        danger: /run|entry|script|repo|rev|language|command|remote|extends|rc|runner|hooks/i,
      },
    ],
    harmless: ['comments', NEXT_HOOKS],
    why: 'A hook manager that you may have installed runs the file by itself.',
    source: 'husky, lefthook and pre-commit documentation',
  },
  {
    id: 'git-commit-tools',
    family: 'git files',
    when: 'committing, making a changelog',
    severity: 'suspect',
    files: ['.gitlint', '.gitchangelog.rc', '{git-,}cliff.toml', '.cz.json', '.commitlintrc', '.gitmessage'],
    look: [
      {
        kind: 'lines',
        danger:
          /path|command|exec|subst|import|hook|processor|extra|\[(skip ci|ci skip)\]|^(signed-off|reviewed|co-authored)-by:/i,
      },
    ],
    why: 'The tool loads code that it names, or adds words to every commit message.',
    source: 'gitlint, gitchangelog and git-cliff documentation',
  },
  {
    id: 'git-other-vcs',
    family: 'git files',
    when: 'sl, hg, jj, repo, arc or git review in this folder',
    severity: 'suspect',
    files: [
      '.sl/**',
      '.hg/**',
      '.jj/**',
      '.svn/**',
      '.bzr/**',
      '.fossil',
      '.fslckout',
      '_FOSSIL_',
      '_darcs/**',
      '.fossil-settings/**',
      '.repo/**',
      '.arcconfig',
      '.arclint',
      '.reviewboardrc',
      '.p4config',
      '.hgrc',
      '.pijul/**',
    ],
    look: [ANY_CHANGE],
    harmless: ['comments'],
    why: 'Another version control system takes hooks, servers and code from it.',
    source: 'Sapling, Mercurial, Arcanist and RBTools documentation',
  },
  {
    id: 'git-review',
    family: 'git files',
    when: 'git review',
    severity: 'suspect',
    files: ['.gitreview'],
    look: [{ kind: 'lines', danger: /^(host|port|project|scheme|username)\s*=/ }],
    why: 'Pushes go to the host that it names.',
    source: 'git-review documentation',
  },
];

/** Drivers that are built into git and bring no content of another file. */
const HARMLESS_DRIVER = /^(CHANGE(LOG|S)|HISTORY|NEWS|RELEASES?)[\w.-]*\s+merge=union$/i;

/** The words that macros of the file stand for, by name. */
function macrosOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    [...text.matchAll(/^\[attr\]([^\s]{1,100})[^\S\n]+([^\n]{1,500})/gm)].map((match) => [
      match[1] ?? '',
      match[2] ?? '',
    ]),
  );
}

/** Lines of attributes with each macro replaced by what it stands for, three macros deep. */
function expandedLines(text: string, macros: ReadonlyMap<string, string>): string[] {
  const expand = (words: string): string =>
    words.replace(/(?<=\s)[\w.-]+(?=\s|$)/g, (word) => macros.get(word) ?? word);
  return text
    .split(/\r?\n/)
    .map((line) => line.trim().slice(0, 2000))
    .map((line) => (line.startsWith('#') ? '' : expand(expand(expand(line)))));
}

const LARGE_FILES = oneOf`
  7z a ai aac aiff apk avi avif bin blend bmp bz2 ckpt cur dae db dds deb dmg docx? dwg eot eps exr fbx flac fla flv gguf
  gif glb gz h5 hdf5 hdr ico iso jar jpe?g joblib keras ktx2? lz4 lzma m4a max mb mkv mov mp[34] mpe?g msi npy npz obj ogg
  ogv onnx otf parquet pb pdf pickle pkl png pptx? psb psd pth? rar raw rpm safetensors sketch sqlite3? step stl svgz swf
  tar tflite tga tgz tiff? ttf uasset umap unitypackage usdz? vox wav webm webp wma wmv woff2? xcf xlsx? xz zip zst
`;
/** A pattern of LFS that matches by an ending of data which no diff shows anyway. */
const OF_LARGE_FILES = pattern('i')`^[^\s"]*\*?\.(${LARGE_FILES})\s`;

function newDrivers({ before = '', after = '' }: JudgedText): string[] {
  const drivers = (text: string, line: string): string[] =>
    HARMLESS_DRIVER.test(line)
      ? []
      : [...text.matchAll(/(?:^|\s)((?:filter|diff|merge)=[^\s]{1,200})/g)].map((match) => match[1] as string);
  const had = new Set(expandedLines(before, macrosOf(before)));
  const old = new Set([...had].flatMap((line) => (line.startsWith('[attr]') ? [] : drivers(line, line))));
  const raw = new Set(before.split(/\r?\n/).map((line) => line.trim()));
  const macros = macrosOf(after);
  const lines = after.split(/\r?\n/).map((line) => line.trim());
  return expandedLines(after, macros).flatMap((line, at) => {
    if (had.has(line)) return [];
    // A driver that the file names for other paths is on already, but not for what a macro stands for.
    const byMacro = line !== lines[at] && !raw.has(lines[at] ?? '');
    return drivers(line, lines[at] ?? '')
      .filter((one) => byMacro || !old.has(one) || (one === 'filter=lfs' && !OF_LARGE_FILES.test(line)))
      .map((one) => `switches on ${one}`);
  });
}

const HIDES = /\s(-diff|binary|(linguist-(generated|vendored|documentation)|gitlab-generated)(=true)?)(\s|$)/;
const HIDDEN_ANYWAY =
  /^[^\s]*(\.lock|lock\.(json|ya?ml)|\.(png|jpe?g|gif|ico|pdf|zip|gz|jar|woff2?|ttf|eot|otf|mp[34]|webp|snap|min\.\w+)|dist\/\S*|generated\/?\S*)\s/i;
const CHANGES_BYTES = /\s(export-ignore|export-subst|ident|working-tree-encoding=|eol=crlf|whitespace=-)/;
const OF_WINDOWS =
  /^(\/?\.(git|github|editorconfig|gitattributes|gitignore|travis|vscode)\S*|\S*\.(bat|cmd|ps1|sln))\s/i;

/** New lines that hide content or change bytes; the definition of a macro does neither before a line uses it. */
function oddAttributes({ before = '', after = '' }: JudgedText): string[] {
  const had = new Set(expandedLines(before, macrosOf(before)));
  return expandedLines(after, macrosOf(after)).flatMap((line, at) => {
    if (line === '' || line.startsWith('[attr]') || had.has(line)) return [];
    const counts =
      (HIDES.test(line) && !HIDDEN_ANYWAY.test(line)) || (CHANGES_BYTES.test(line) && !OF_WINDOWS.test(line));
    return counts ? [`line ${at + 1}: ${line.slice(0, 120)}`] : [];
  });
}

function submodules({ before, after }: JudgedText): string[] {
  if (after === undefined) return [];
  const { entries, error } = parseConfig(after);
  if (error !== undefined) return [`does not parse: line ${error.line}, ${error.why}`];
  const old = parseConfig(before ?? '').entries;
  const out: string[] = [];
  for (const entry of entries) {
    const value = entry.value ?? '';
    const was = old.find((one) => one.key === entry.key);
    if (was?.value === entry.value && was !== undefined) continue;
    const name = entry.subsection ?? '';
    const reason = danger(entry, name, value, was?.value);
    if (reason !== undefined) out.push(`${name}: ${reason}`);
  }
  return out;
}

function danger(entry: ConfigEntry, name: string, value: string, was: string | undefined): string | undefined {
  if (/(^|[/\\])\.\.([/\\]|$)/.test(name) || /[\u0000-\u001f\u007f]/.test(name))
    return 'its name leaves the modules folder';
  if (/[\u0000-\u001f\u007f]/.test(value)) return `control characters in its ${entry.name}`;
  if (value.startsWith('-') || /^[a-z]+=-/i.test(value)) return `its ${entry.name} reads as an option`;
  if (entry.name === 'update') return /^(checkout|rebase|merge|none)$/.test(value) ? undefined : `update runs ${value}`;
  if (entry.name === 'path')
    return /(^|\/)(\.\.|\.git)(\/|$)|^\//i.test(value) ? `its path leaves the project: ${value}` : undefined;
  if (entry.name === 'branch') return undefined;
  if (entry.name === 'ignore' && value === 'none') return undefined;
  if (entry.name !== 'url') return `${entry.name} is ${value}`;
  if (/^[a-z0-9+.-]*::|^(file|http|ftp):|^\/|^~|%0[ad]/i.test(value)) return `its url is ${value}`;
  if (was === undefined) return `new, from ${value}`;
  return hostOf(was) === hostOf(value) && /^[a-z]+:\/\//i.test(was)
    ? ownerOf(was) === ownerOf(value)
      ? undefined
      : `its url is now ${value}`
    : `its url is now ${value}`;
}

const ownerOf = (url: string): string => url.split('/').slice(0, 4).join('/');
