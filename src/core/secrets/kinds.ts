/** What a file is by its name and place. */
export interface SecretKind {
  /** 'environment file': for lists that a user reads. */
  readonly name: string;
  /** A key store is binary: nothing of it can be kept. Of other files the values are replaced. */
  readonly form: 'values' | 'key-store';
  /** A file that may be one value alone, without a key. */
  readonly isBare: boolean;
}

interface Row extends SecretKind {
  readonly at: RegExp;
  readonly except?: RegExp;
}

/** Files that show how a secret file is written, and files of source code and documentation. */
const EXAMPLE = /[._-](?:example|sample|template|tmpl|dist|schema)(?:\.|$)|(?:^|\/)(?:example|sample)[._-]/;
const SOURCE =
  /\.(?:[cm]?[jt]sx?|py|pyi|rb|go|rs|java|kt|kts|scala|swift|c|cc|cpp|h|hpp|cs|fs|php|ex|exs|erl|dart|lua|pl|sh|bash|zsh|ps1|md|mdx|rst|adoc|html?|css|scss|vue|svelte|svg|png|jpe?g|gif|lock|enc|age|sops|gpg)$/;
/** Libraries bring keys of their tests. */
const LIBRARY = /(?:^|\/)(?:node_modules|bower_components|site-packages|\.pnpm-store)\//;

const values = (name: string, at: RegExp, except?: RegExp): Row => ({
  name,
  at,
  form: 'values',
  isBare: false,
  ...(except === undefined ? {} : { except }),
});
const bare = (name: string, at: RegExp, except?: RegExp): Row => ({ ...values(name, at, except), isBare: true });

/** The first row that matches decides. Paths are compared in lower case. */
const KINDS: readonly Row[] = [
  values('environment file', /(?:^|\/)(?:\.(?:flask)?env(?:rc)?|[^/]+\.env)(?:[._~-][^/]*|\d+)?$/, SOURCE),
  values('environment file', /(?:^|\/)\.envs\/.|(?:^|\/)\.dev\.vars(?:\.[^/]+)?$|(?:^|\/)\.secrets?$/, SOURCE),
  { name: 'key store', at: /\.(?:p12|pfx|jks|keystore|bks|kdbx|keychain(?:-db)?)$/, form: 'key-store', isBare: false },
  bare('key file', /\.(?:pem|key|p8|pk8|ppk|ovpn)$/, LIBRARY),
  bare('key file', /(?:^|\/)(?:id_[a-z0-9_]+|ssh_host_[a-z0-9_]+_key|identity)(?:[._~-](?!pub$)[^/]*)?$/, SOURCE),
  values(
    'cloud credentials',
    /(?:^|\/)(?:[^/]*service[-_]?account[^/]*|[^/]*firebase-adminsdk[^/]*|client_secrets?[^/]*|application_default_credentials|gcp[-_]?key[^/]*|google-services)\.json$/,
  ),
  values(
    'cloud credentials',
    /(?:^|\/)googleservice-info\.plist$|(?:^|\/)\.(?:aws|azure|oci)\/.|(?:^|\/)\.config\/gcloud\/./,
  ),
  values(
    'registry credentials',
    /(?:^|\/)(?:\.npmrc|\.yarnrc(?:\.yml)?|\.pypirc|pip\.conf|nuget\.config|settings(?:-security)?\.xml|auth\.json|\.dockercfg)$/,
  ),
  values('registry credentials', /(?:^|\/)\.docker\/config\.json$|(?:^|\/)\.(?:cargo|gem)\/credentials(?:\.toml)?$/),
  values(
    'login file',
    /(?:^|\/)(?:[._]netrc|\.git-credentials|\.pgpass|\.my\.cnf|\.htpasswd|\.s3cfg|\.boto|kaggle\.json|\.terraformrc|credentials\.tfrc\.json|rclone\.conf|\.ftpconfig|sftp(?:-config)?\.json|\.?token\.json|\.clasprc\.json|wg\d\.conf)$|(?:^|\/)gh\/hosts\.yml$/,
  ),
  values(
    'build properties',
    /(?:^|\/)(?:gradle|local|key|keystore|signing|secrets?)\.properties$|(?:^|\/)(?:local\.settings|appsettings\.[^/]+)\.json$/,
  ),
  values('Terraform variables', /\.tfvars(?:\.json)?$/),
  values('Terraform state', /\.tfstate(?:\.[^/]*)?$/),
  values('kubeconfig', /(?:^|\/)\.kube\/.|(?:^|\/)kubeconfig(?:[._-][^/]*)?$|\.kubeconfig$/, SOURCE),
  bare(
    'password file',
    /(?:^|\/)[._]?(?:passwords?|passwd|secret|(?:access|api|auth)?[-_]?tokens?|api[-_]?keys?)(?:\.txt)?$/,
  ),
  bare('master key', /(?:^|\/)master\.key$/),
  bare('vault password', /(?:^|\/)(?:\.vault|\.?ansible[-_]vault|vault[-_]pass)[^/]*$/, SOURCE),
  values('credentials', /(?:^|\/)(?:credentials?|secrets?)(?:\.(?:json|ya?ml|toml|ini|conf|cfg|properties|txt|xml))?$/),
  values(
    'credentials',
    /(?:^|\/)[^/]*(?:credential|secret)[^/]*\.(?:json|ya?ml|toml|ini|conf|cfg|properties|txt|xml)$/,
    LIBRARY,
  ),
  bare('secrets folder', /(?:^|\/)\.?secrets\/./, new RegExp(`${SOURCE.source}|${LIBRARY.source}`)),
];
/** Each name of a kind has a part that matches this, or is in a folder that matches the other: most paths need no more. */
const NAME_HINT =
  /env|secret|token|credential|key|pass|service|adminsdk|google|rc(?![a-z])|dockercfg|kaggle|pip\.conf|boto|s3cfg|my\.cnf|rclone|ftp|hosts\.yml|wg\d|nuget|settings|properties|auth\.json|config\.json$|tfvars|tfstate|kube|vault|id_|ssh_host|identity|\.(?:dev\.vars|p12|pfx|jks|bks|kdbx|pem|p8|pk8|ppk|ovpn)/i;
const FOLDER_HINT = /(?:^|\/)(?:\.envs|\.aws|\.azure|\.oci|gcloud|\.kube|\.?secrets|git-crypt|\.git)\//i;
/** Only in its own folder of a repository, which no setting of git needs inside. */
const GIT_SECRET = /(?:^|\/)\.git\/(?:.*\/)?(?:git-crypt\/.|credentials?$)/;

/** Whether a file name may be of a kind, wherever it is. */
export const isSecretHint = (name: string): boolean => NAME_HINT.test(name);

/** Whether a path is in a folder in which any file may be of a kind; of a folder, with a `/` at its end. */
export const isSecretFolder = (path: string): boolean => FOLDER_HINT.test(path);

/** The kind of secret file that a path names, or undefined. Public keys and examples are none. */
export function secretKind(path: string): SecretKind | undefined {
  const name = path.toLowerCase();
  if (!isSecretHint(name.slice(name.lastIndexOf('/') + 1)) && !isSecretFolder(name)) return undefined;
  if (GIT_SECRET.test(name)) return GIT_KIND;
  if (GIT_CONFIG.test(name)) return CONFIG_KIND;
  if (IN_GIT.test(name) || name.endsWith('.pub') || EXAMPLE.test(name.slice(name.lastIndexOf('/') + 1)))
    return undefined;
  if (SWAP.test(name)) return originals(name.replace(SWAP, '')).some((one) => kindOf(one)) ? SWAP_KIND : undefined;
  if (ARCHIVE.test(name) && !LIBRARY.test(name))
    return kindOf(name.replace(ARCHIVE, '')) === undefined ? undefined : ARCHIVE_KIND;
  return kindOf(name) ?? (BACKUP.test(name) ? kindOf(name.replace(BACKUP, '$1$2$3')) : undefined);
}

const kindOf = (name: string): Row | undefined =>
  KINDS.find(({ at, except }) => at.test(name) && except?.test(name) !== true);

/** What editors and users keep next to a file: `x~`, `#x#`, `x.bak`, `x.orig`, `x copy`, `x (1)`. */
const BACKUP =
  /(?:^|(?<=\/))(?:#([^/]+)#|([^/]+?)(?:~|\.~\d+~|[._-](?:bak|backup|old|orig|saved?|copy|te?mp|\d{1,8})\d*| copy(?: \d+)?| \(\d+\))((?:\.[a-z0-9]{1,6})?))$/;
/** Swap and undo files of vi: its text is in another form, and the name begins with one more dot. */
const SWAP = /\.(?:sw[a-p]|un~)$/;
/** What packs one file, or is named after what it packs: its content cannot be replaced. */
const ARCHIVE = /(?:\.tar)?\.(?:gz|zip|tgz|tar|7z|bz2|xz|zst|rar|lz4)$/;
const ARCHIVE_KIND: SecretKind = { name: 'archive of a secret file', form: 'key-store', isBare: false };
const SWAP_KIND: SecretKind = { name: 'swap file of an editor', form: 'key-store', isBare: false };

function originals(name: string): readonly string[] {
  const at = name.lastIndexOf('/') + 1;
  return [name, name[at] === '.' ? name.slice(0, at) + name.slice(at + 1) : name];
}

const IN_GIT = /(?:^|\/)\.git\//;
/** A copy has git's configuration rewritten. In bind mode that of a nested repository is the user's own file. */
const GIT_CONFIG = /(?:^|\/)\.git\/config(?:\.worktree)?$/;
const CONFIG_KIND: SecretKind = { name: 'configuration of git', form: 'values', isBare: false };
const GIT_KIND: SecretKind = { name: 'credentials of git', form: 'key-store', isBare: false };
