import { MARK, type Mechanism, RUBY_TOUCH, SHELL_TOUCH, TOUCH } from './mechanism.ts';

const CARGO = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n';
const CRATE = { 'Cargo.toml': CARGO, 'src/main.rs': 'fn main() {}\n' };
const WRITE = `std::fs::write("${MARK}", "").unwrap();`;
const CHECK = 'cargo check --offline';
const SPEC = { 'spec/a_spec.rb': 'RSpec.describe("a") { it("b") {} }\n' };
const GEMSPEC =
  'Gem::Specification.new do |s|\n  s.name = "a"\n  s.version = "1"\n  s.summary = "a"\n  s.authors = ["a"]\nend\n';

export const LANGUAGES: readonly Mechanism[] = [
  {
    name: 'Rust: a build script',
    rule: 'rust-build-script',
    base: CRATE,
    attack: { 'build.rs': `fn main() { ${WRITE} }\n` },
    command: CHECK,
  },
  {
    name: 'Rust: a part of the build script',
    rule: 'reached',
    base: {
      ...CRATE,
      'build.rs': 'include!("build/common.rs");\nfn main() { f(); }\n',
      'build/common.rs': 'fn f() {}\n',
    },
    attack: { 'build/common.rs': `fn f() { ${WRITE} }\n` },
    command: CHECK,
  },
  {
    name: 'Rust: a build script in a new member of the workspace',
    rule: 'reached',
    base: { 'Cargo.toml': '[workspace]\nmembers = ["src/*"]\n', 'src/one/Cargo.toml': CARGO, 'src/one/src/lib.rs': '' },
    attack: {
      'src/two/Cargo.toml': CARGO.replace('"a"', '"b"'),
      'src/two/src/lib.rs': '',
      'src/two/build.rs': `fn main() { ${WRITE} }\n`,
    },
    command: CHECK,
  },
  {
    name: 'Rust: a wrapper of the compiler',
    rule: 'rust-build-script',
    base: { ...CRATE, '.cargo/config.toml': '[net]\noffline = true\n' },
    attack: {
      '.cargo/config.toml': '[net]\noffline = true\n[build]\n"rustc-wrapper" = "./x"\n',
      x: `${SHELL_TOUCH}exec "$@"\n`,
    },
    command: CHECK,
  },
  {
    name: 'Rust: a runner',
    rule: 'rust-build-script',
    base: CRATE,
    attack: { '.cargo/config.toml': "[target.'cfg(all())']\nrunner = ['sh', 'x.txt']\n", 'x.txt': `${TOUCH}\n` },
    command: 'cargo run --offline',
  },
  {
    name: 'Rust: a procedural macro',
    rule: 'rust-cargo-toml',
    base: {
      'Cargo.toml': `${CARGO}[dependencies]\nm = { path = "m" }\n`,
      'src/main.rs': 'fn main() {}\n',
      'm/Cargo.toml': CARGO.replace('"a"', '"m"'),
      'm/src/lib.rs': '',
    },
    attack: {
      'm/Cargo.toml': `${CARGO.replace('"a"', '"m"')}[lib]\nproc_macro = true\n`,
      'm/src/lib.rs': `use proc_macro::TokenStream;\n#[proc_macro]\npub fn run(_: TokenStream) -> TokenStream { ${WRITE} TokenStream::new() }\n`,
      'src/main.rs': 'm::run!();\nfn main() {}\n',
    },
    command: CHECK,
  },
  {
    name: 'Ruby: .rspec with several options in one line',
    rule: 'ruby-files',
    base: { ...SPEC, '.rspec': '--color\n' },
    attack: { '.rspec': '--color --req evil\n', 'lib/evil.rb': RUBY_TOUCH },
    command: 'rspec',
  },
  {
    name: 'Ruby: .rspec with an option joined to its value',
    rule: 'ruby-files',
    base: { ...SPEC, '.rspec': '--color\n' },
    attack: { '.rspec': '--color\n-revil\n', 'lib/evil.rb': RUBY_TOUCH },
    command: 'rspec',
  },
  {
    name: 'Ruby: .rubocop.yml with a blank before the colon',
    rule: 'ruby-files',
    base: { '.rubocop.yml': 'AllCops:\n  NewCops: enable\n', 'a.rb': 'puts 1\n' },
    attack: { '.rubocop.yml': 'AllCops:\n  NewCops: enable\nrequire : ./evil\n', 'evil.rb': RUBY_TOUCH },
    command: 'rubocop a.rb',
  },
  {
    name: 'Ruby: .irbrc',
    rule: 'ruby-files',
    base: { 'a.rb': 'puts 1\n' },
    attack: { '.irbrc': RUBY_TOUCH },
    command: 'echo exit | irb',
  },
  {
    name: 'Ruby: Gemfile',
    rule: 'ruby-gemfile',
    base: { Gemfile: 'source "https://gems.example"\n' },
    attack: { Gemfile: `source "https://gems.example"\nsystem "${TOUCH}"\n` },
    command: 'bundle check',
  },
  {
    name: 'Ruby: a specification of a gem',
    rule: 'ruby-gemfile',
    base: { 'a.gemspec': GEMSPEC },
    attack: { 'a.gemspec': GEMSPEC.replace('"1"', `\`${TOUCH}; echo 1\`.strip`) },
    command: 'gem build a.gemspec',
  },
  {
    name: 'PHP: a script of composer',
    rule: 'php-composer',
    base: { 'composer.json': '{"name": "a/a"}\n' },
    attack: { 'composer.json': `{"name": "a/a", "scripts": {"pre-autoload-dump": "${TOUCH}"}}\n` },
    command: 'composer dump-autoload',
  },
  {
    name: 'PHP: the bootstrap of phpunit',
    rule: 'php-config',
    base: {
      'phpunit.xml':
        '<phpunit><testsuites><testsuite name="a"><directory>tests</directory></testsuite></testsuites></phpunit>\n',
    },
    attack: {
      'phpunit.xml':
        '<phpunit\n  bootstrap = \'x.txt\'><testsuites><testsuite name="a"><directory>tests</directory></testsuite></testsuites></phpunit>\n',
      'x.txt': `<?php touch('${MARK}');\n`,
    },
    command: 'phpunit',
  },
  {
    name: 'Perl: .proverc',
    rule: 'r-perl',
    base: { 't/a.t': 'print "1..1\\nok 1\\n";\n', '.proverc': '--timer\n' },
    attack: { '.proverc': '--timer\n--exec "sh x.txt"\n', 'x.txt': `${TOUCH}\n` },
    command: 'prove t',
  },
  {
    name: 'Perl: Makefile.PL',
    rule: 'r-perl',
    base: { 'Makefile.PL': 'use ExtUtils::MakeMaker;\nWriteMakefile(NAME => "A");\n' },
    attack: { 'Makefile.PL': `use ExtUtils::MakeMaker;\nsystem("${TOUCH}");\nWriteMakefile(NAME => "A");\n` },
    command: 'perl Makefile.PL',
  },
];
