import { ownValue } from '../../core/text/own-value.ts';
import { decodeBytes } from '../../core/text/path.ts';
import { readStructure } from '../formats/structured.ts';
import { oneOf, pattern } from '../formats/words.ts';
import type { Scene } from '../input.ts';

type Language = 'python' | 'javascript';

/** Files of a project that name its dependencies: the audit needs what they held before the session. */
const MANIFESTS: Readonly<Record<Language, RegExp>> = {
  python:
    /^(requirements[^/]*\.(txt|in)|requirements\/[^/]+\.(txt|in)|pyproject\.toml|setup\.cfg|Pipfile|poetry\.lock|uv\.lock|pdm\.lock)$/i,
  javascript: /^package\.json$/i,
};
/** Packages of Python whose module has another name. */
const MODULES: Readonly<Record<string, string>> = {
  pyyaml: 'yaml',
  beautifulsoup4: 'bs4',
  pillow: 'PIL',
  'scikit-learn': 'sklearn',
  'scikit-image': 'skimage',
  'opencv-python': 'cv2',
  'python-dateutil': 'dateutil',
  'msgpack-python': 'msgpack',
  pyjwt: 'jwt',
  pymysql: 'pymysql',
  'mysql-connector-python': 'mysql',
  'psycopg2-binary': 'psycopg2',
  protobuf: 'google',
  pyzmq: 'zmq',
  gitpython: 'git',
  attrs: 'attr',
  'django-environ': 'environ',
  djangorestframework: 'rest_framework',
  'python-jose': 'jose',
  'python-multipart': 'multipart',
  'python-socketio': 'socketio',
  pyserial: 'serial',
  pycryptodome: 'Crypto',
  pyopenssl: 'OpenSSL',
  'flask-sqlalchemy': 'flask_sqlalchemy',
  'sentry-sdk': 'sentry_sdk',
  ruamel: 'ruamel',
};

/** Whether the audit reads a file of the base to know the project's dependencies. */
export const isManifest = (path: string): boolean => Object.values(MANIFESTS).some((one) => one.test(path));

const known = new WeakMap<Scene, Map<Language, ReadonlySet<string>>>();

/** Whether the project's manifests, as they were before the session, have a dependency that is imported by this name. */
export function isDependency(scene: Scene, language: Language, name: string): boolean {
  return namesOf(scene, language).has(name);
}

/** Whether a dependency of JavaScript is of this scope: `@scope`. */
export function hasScope(scene: Scene, scope: string): boolean {
  return [...namesOf(scene, 'javascript')].some((name) => name.startsWith(`${scope}/`));
}

function namesOf(scene: Scene, language: Language): ReadonlySet<string> {
  const byLanguage = known.get(scene) ?? new Map<Language, ReadonlySet<string>>();
  known.set(scene, byLanguage);
  const had = byLanguage.get(language) ?? importNames(scene, language);
  byLanguage.set(language, had);
  return had;
}

function importNames({ input: { base } }: Scene, language: Language): ReadonlySet<string> {
  const found = new Set<string>();
  for (const path of base?.paths ?? []) {
    if (!MANIFESTS[language].test(path)) continue;
    const bytes = base?.read(path);
    if (bytes === undefined) continue;
    const text = decodeBytes(bytes);
    for (const name of language === 'python' ? pythonNames(path, text) : javascriptNames(path, text)) found.add(name);
  }
  return found;
}

function javascriptNames(path: string, text: string): string[] {
  const leaves = readStructure(text, 'json', path)?.leaves ?? [];
  return leaves.flatMap(({ key, value }) => {
    const name = /^(?:dev|peer|optional)?[dD]ependencies\.(.+)$/.exec(key)?.[1];
    return name === undefined || /^(workspace|file|link|portal):/.test(value) ? [] : [name];
  });
}

/** The names by which the packages of a manifest may be imported; not those of the project itself. */
function pythonNames(path: string, text: string): string[] {
  const own = /^name\s*=\s*["']?([\w.-]+)/m.exec(text)?.[1]?.toLowerCase();
  const lock = /\.lock$/i.test(path);
  const packages = lock
    ? text
        .split(/^\[\[package\]\]/m)
        .slice(1)
        .filter((block) => !/^source = \{ (editable|virtual|directory|workspace|path)/m.test(block))
        .map((block) => /^name = "([^"]{1,200})"/m.exec(block)?.[1])
    : [
        ...text.matchAll(
          /^[ \t]*["']?([A-Za-z][\w.-]{1,80})[ \t]*(?:\[[^\]\n]{0,400}\][ \t]*)?(?:[=<>~!^]{1,2}|["'],?$|$|;|=\s*["'{])/gm,
        ),
      ].map(([, name]) => name);
  return packages.flatMap((name) => {
    const bare = name?.toLowerCase() ?? '';
    if (bare === '' || (!lock && NOT_PACKAGES.test(bare)) || (!lock && bare === own)) return [];
    const module = bare.replace(/[.-]/g, '_');
    return [module, module.replace(/^python_|_python$|^py_/, ''), ownValue(MODULES, bare) ?? module];
  });
}

/** Keys of the manifests that look like a line with a package. */
const KEYS = oneOf`
  name version description readme license authors? maintainers? keywords classifiers dependencies python requires.* build.* packages?
  include exclude url verify_ssl source scripts? tests? dev main src lib app core utils? config settings docs?
`;
const NOT_PACKAGES = pattern()`^(${KEYS})$`;
