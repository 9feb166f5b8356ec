import { anyOf, oneOf, pattern, wholeLine } from '../../formats/words.ts';
import { ANY_CHANGE, type Rule } from '../../judges/rule.ts';
import { CARGO, CARGO_CONFIG, CARGO_SAFE } from './plain-builds.ts';
import { GOLANGCI, GOLANGCI_PATHS } from './plain-go.ts';
import { GO_MOD } from './plain-packages.ts';

const COMPOSER_KEYS = oneOf`
  scripts scripts-aliases repositories
  config\.(allow-plugins|bin-dir|vendor-dir|secure-http|disable-tls|cafile|github|http-basic|platform)
  autoload(-dev)?\.files bin extra minimum-stability replace provide
`;

const MAGE = /^\/\/(?:go:build|[ \t]*\+build)[ \t][^\n]{0,200}\bmage\b/m;

const GO_PATHS = ['go.env', 'vendor/modules.txt', '.goreleaser.y{,a}ml', '.air.toml', 'tools.go', '{.,}ko.y{,a}ml'];

/** Programs that a tool of Swift runs. */
const SWIFT_PROGRAMS = [
  'Package.swift',
  'Package@swift-*.swift',
  '{Project,Workspace,Dangerfile}.swift',
  'Plugins/*/**.swift',
];
/** A name, a version of a dependency, and brackets. */
const PLAIN_SWIFT = wholeLine(
  /(\.package\(\s*)?((url|name):\s*"[^"\\]*",\s*)*(from|exact|\.upToNextM(aj|in)or\(from):\s*"[\w.-]+"\)?\)?,?/,
  /\[?"[\w.-]+"\]?,?/,
  /[\])}]+,?/,
);

export const compiledRules: readonly Rule[] = [
  {
    id: 'rust-build-script',
    family: 'languages',
    when: 'cargo build, check or test, or opening the project with rust-analyzer',
    severity: 'suspect',
    files: [
      'build.rs',
      '.cargo/**',
      'rust-project.json',
      '.rust-analyzer.toml',
      'rust-analyzer.toml',
      '!src/**/build.rs',
    ],
    look: [
      ANY_CHANGE,
      {
        kind: 'keys',
        format: 'toml',
        danger:
          /rustc|rustdoc|rustflags|target-dir|runner|linker|alias|env|registr|source|http|net|patch|include|paths|credential|unstable/i,
      },
    ],
    harmless: ['comments', CARGO_CONFIG],
    why: 'Cargo runs it at every build, and editors build on opening.',
    source: 'Cargo book',
  },
  {
    id: 'rust-cargo-toml',
    family: 'languages',
    when: 'cargo, rust-analyzer',
    severity: 'suspect',
    files: ['Cargo.toml'],
    look: [{ kind: 'settings', format: 'toml', harmless: { ...CARGO, matching: CARGO_SAFE } }],
    why: 'A build script, a macro or the source of a dependency changed.',
    source: 'Cargo book, Manifest',
  },
  {
    id: 'rust-tools',
    family: 'languages',
    when: 'cargo test, cross, trunk, tauri, rustup',
    severity: 'suspect',
    files: [
      'rust-toolchain{,.toml}',
      'clippy.toml',
      '.config/nextest.toml',
      'Cross.toml',
      'Trunk.toml',
      'Dioxus.toml',
      'tauri.conf.json{,5}',
      'Tauri.toml',
      'dylint.toml',
      'rustfmt.toml',
      'dist-workspace.toml',
      'release.toml',
      'cbindgen.toml',
      'wasm-pack.toml',
      'Anchor.toml',
      'foundry.toml',
      'Move.toml',
      'Scarb.toml',
    ],
    look: [
      {
        kind: 'keys',
        format: 'auto',
        danger:
          /path|script|runner|pre-?build|command|hooks?|before\w*|image|ffi|remappings|libs|url|env|wrapper|security|allowlist|plugins|libraries/i,
      },
      { kind: 'lines', danger: /channel\s*=\s*"?(?![\d.]+"?$|stable"?$|beta"?$|nightly(-[\d-]+)?"?$)/ },
    ],
    why: 'The file selects a compiler, a runner or commands.',
    source: 'rustup, nextest, cross and Tauri documentation',
  },
  {
    id: 'c-checks',
    family: 'languages',
    when: 'clang-tidy, or opening a C or C++ file in an editor that runs it',
    severity: 'suspect',
    files: ['.clang-tidy'],
    look: [{ kind: 'lines', danger: /ExtraArgs|plugin|-load|command|\bexec|\\[xu]/i, harmless: /^#/ }],
    why: 'Its extra arguments go to the compiler, which loads plugins that they name.',
    source: 'clang-tidy documentation, ExtraArgs',
  },
  {
    id: 'go-module',
    family: 'languages',
    when: 'go build, gopls on opening',
    severity: 'suspect',
    files: [...GO_MOD.files, ...GO_PATHS, ...GOLANGCI_PATHS],
    look: [
      { kind: 'settings', format: 'auto', ...GO_MOD },
      { kind: 'settings', format: 'auto', files: GOLANGCI_PATHS, harmless: GOLANGCI },
      {
        kind: 'lines',
        files: GO_PATHS,
        danger: anyOf(
          /^GO(FLAGS|PROXY|NOSUM|INSECURE|PRIVATE|TOOLCHAIN|NOSUMDB)/i,
          /custom|plugin|path:|\bcmd\b|hooks?|command|^# |^[\w.-]+\.\w+\/[\w./-]+$|bin\s*=|script|run:|publish|env:/i,
          /settings\.custom|entrypoint|flags|BaseImage/i,
        ),
        harmless: /^#\s/,
      },
      {
        kind: 'custom',
        see: ({ path, before }) => (before === undefined && /go\.work$|go\.env$/.test(path) ? ['new file'] : []),
      },
    ],
    why: 'A module comes from another source, or another tool runs.',
    source: 'go.dev/ref/mod; golangci-lint and GoReleaser documentation',
  },
  {
    id: 'go-mage',
    family: 'languages',
    when: 'mage in that folder',
    severity: 'suspect',
    files: ['*.go'],
    look: [
      {
        kind: 'custom',
        see: ({ before = '', after = '' }) => (MAGE.test(after) || MAGE.test(before) ? ['a file of mage'] : []),
      },
    ],
    why: 'mage compiles and runs every file with that build tag, under any name.',
    source: 'magefile.org',
  },
  {
    id: 'php-composer',
    family: 'languages',
    when: 'composer install, any run of the program',
    severity: 'suspect',
    files: ['composer.json'],
    look: [
      {
        kind: 'keys',
        format: 'json',
        danger: pattern('i')`^(${COMPOSER_KEYS})`,
        harmless:
          /^extra\.(branch-alias|laravel\.dont-discover|symfony\.require=[\d.*^~ ]+$)|^minimum-stability=stable$|^config\.platform\.php=\d[\d.]*$|^replace\.symfony\/polyfill-[\w-]+=\*$/,
      },
    ],
    why: 'Composer runs commands or plugins, or takes packages from elsewhere.',
    source: 'getcomposer.org',
  },
  {
    id: 'php-config',
    family: 'languages',
    when: 'running the tests or tools',
    severity: 'suspect',
    files: [
      'phpunit.xml{,.dist}',
      'phpstan.neon{,.dist}',
      'psalm.xml',
      '.php-cs-fixer{,.dist}.php',
      '.php_cs*',
      'rector.php',
      '/pest.php',
      'ecs.php',
      'deptrac.yaml',
      'phpcs.xml{,.dist}',
      'infection.json{,5}',
      'castor.php',
      'RoboFile.php',
      'artisan',
      '.phan/**',
      'phpbench.json',
      'box.json',
      'codeception.y{,a}ml',
      'behat.y{,a}ml',
      'phpspec.y{,a}ml',
      'whisky.json',
      '.phpcs.xml{,.dist}',
      'wp-cli{,.local}.y{,a}ml',
    ],
    look: [
      { kind: 'code' },
      // Files that it loads at every command, and commands before others, are items of lists.
      { kind: 'lines', files: ['wp-cli{,.local}.y{,a}ml'], danger: /^[^#]/ },
      {
        kind: 'lines',
        danger:
          /bootstrap|autoload|extension|plugin|includes?\s*:|path|file\s*=|script|class\s*=|<ini\b|\bref\s*=|hooks?\b|git|command|services\s*:|factory|rules\s*:|<server\b|<env\b|printer/i,
        // Folders that are analysed.
        harmless:
          /^(paths|excludePaths|scanDirectories)\s*:\s*(\[[\w\s,./'"-]*\])?$|^-?\s*(src|tests?|lib|app)(\/[\w/-]*)?$/,
      },
    ],
    why: 'The tool loads the code that it names.',
    source: 'PHPUnit, PHPStan and Psalm documentation',
  },
  {
    id: 'apple-build',
    family: 'languages',
    when: 'swift build, Xcode, pod install',
    severity: 'suspect',
    files: [
      ...SWIFT_PROGRAMS,
      '.swiftpm/**',
      '*.podspec{,.json}',
      'Podfile',
      'Cartfile*',
      'Mintfile',
      'project.y{,a}ml',
      'Tuist/**',
      '{Tuist,Project,Workspace}.swift',
      '.swiftlint.yml',
      '.swiftformat',
      '.sourcery.yml',
      'swiftgen.yml',
      '.xcode-version',
    ],
    look: [
      { kind: 'lines', files: SWIFT_PROGRAMS, danger: /^(?!\/\/)/, harmless: PLAIN_SWIFT },
      {
        kind: 'lines',
        danger: anyOf(
          /\.plugin|unsafeFlags|url:|path:|prepare_command|script_phase|parent_config|https?:|script|command/i,
          /binaryTarget|\bFoundation\b|system|exec|git|:path|:podspec|pre_install|post_install|plugin|Process\(/i,
          /linkerSettings|import |custom_rules|included|target\s*\(/i,
        ),
        harmless: /(from|exact|upToNextMajor\(from):\s*"[\d.]+"\)?\)?,?$/,
      },
      {
        kind: 'custom',
        // A version may change; another URL is another package.
        see: ({ before = '', after = '' }) =>
          [...after.matchAll(/\burl:\s*"([^"]{1,300})"/g)]
            .map((match) => match[1] as string)
            .filter((url) => !before.includes(`"${url}"`)),
      },
      { kind: 'new' },
    ],
    why: 'The manifest is a program, or names scripts and sources.',
    source: 'SwiftPM and CocoaPods documentation',
  },
];
