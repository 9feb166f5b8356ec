import { anyOf, oneOf, pattern, wholeLine } from '../../formats/words.ts';
import type { Rule } from '../../judges/rule.ts';
import { PLAIN_RSPEC, RUBY_TABLES } from './plain-ruby.ts';

/** Fields of a gem specification that hold text. */
const GEM_FIELDS = oneOf`version summary description license homepage authors? email metadata\[.*\]`;
const VERSIONS = /(,\s*["'][~><= 0-9.]+["']){0,3}/.source;
const PLAIN_STRINGS = /(?:\[\s*)?(["'][^"'#`]*["'](\.freeze)?[,\s]*)+\]?/;

export const rubyRules: readonly Rule[] = [
  {
    id: 'ruby-files',
    family: 'languages',
    when: 'bundle, rake, rspec, irb, or an editor with Ruby',
    severity: 'suspect',
    files: [
      '.rspec',
      '.rspec-*',
      'spec_helper.rb',
      'rails_helper.rb',
      '.irbrc',
      '.pryrc',
      '.rdbgrc',
      '.byebugrc',
      'Guardfile',
      'Capfile',
      'Dangerfile',
      'Fastfile',
      'Appfile',
      'Matchfile',
      'fastlane/**',
      'Podfile',
      'config.ru',
      '.simplecov',
      '.bundle/**',
      'Brewfile',
      '.yardopts',
      ...RUBY_TABLES.flatMap(({ files }) => files),
      'puma.rb',
      'unicorn.rb',
      'Thorfile',
      'Vagrantfile',
      'Steepfile',
      'Deliverfile',
      'Gymfile',
      'Snapfile',
      'Appraisals',
      'config/boot.rb',
      'bin/{rails,rake,setup,bundle,dev,update,spring}',
      'db/seeds.rb',
      'sorbet/tapioca/*.rb',
    ],
    look: [
      {
        kind: 'custom',
        see: ({ path, after }) =>
          /(^|\/)\.(irbrc|pryrc|rdbgrc|byebugrc|simplecov)$|file$|\.rb$|\.ru$|\.bundle\/|(^|\/)bin\/|appraisals$/i.test(
            path,
          ) && after !== undefined
            ? ['a program or its settings']
            : [],
      },
      ...RUBY_TABLES.map((table) => ({ kind: 'settings', format: 'yaml', ...table }) as const),
      {
        kind: 'custom',
        see: ({ path, added }) =>
          /(^|\/)\.rspec(-\w+)?$/i.test(path)
            ? added()
                .filter(({ text }) => !PLAIN_RSPEC.test(text))
                .map(({ text }) => text.slice(0, 120))
            : [],
      },
      {
        kind: 'lines',
        danger:
          /<%|^(-r|--require|-I|--load|-e)\b|require:|plugins:|inherit_(from|gem)|BUNDLE_|path|load|extend_config|- \.?\//i,
      },
    ],
    why: 'Ruby tools run it, or load what it names.',
    source: 'rspec, rubocop, bundler and irb documentation',
  },
  {
    id: 'ruby-gemfile',
    family: 'languages',
    when: 'bundle, bundle exec, an editor with Ruby',
    severity: 'suspect',
    files: ['Gemfile', '*.gemspec', 'gems.rb', '*.gemfile'],
    look: [
      {
        kind: 'lines',
        // A text of several lines calls what is in #{}, in a line that looks like a comment as well.
        danger: /^[^#]|#\{/,
        harmless: wholeLine(
          pattern()`gem\s*(?:\(\s*)?["'][\w.-]+["']${VERSIONS}(,\s*(require|group|platforms?|groups):[\w:[\]", ']+)?\)?`,
          /group\s[\w:, ]+do|end|ruby\s+["'][\d.~> ]+["']/,
          pattern()`\w{1,80}\.(${GEM_FIELDS})\s*=\s*([\w:]+::VERSION|${PLAIN_STRINGS.source})`,
          pattern()`\w{1,80}\.add_(runtime_|development_)?dependency\s*\(?["'][\w.-]+["']${VERSIONS}\)?`,
        ),
      },
    ],
    why: 'The file is a Ruby program, and names the source of gems.',
    source: 'bundler gemfile(5)',
  },
  {
    id: 'ruby-erb',
    family: 'languages',
    when: 'starting the application or its tests',
    severity: 'suspect',
    files: ['config/**/*.y{,a}ml', '{test,spec}/fixtures/**/*.y{,a}ml', '*.{yml,yaml}.erb', 'cucumber.y{,a}ml'],
    look: [
      {
        kind: 'lines',
        danger: anyOf(
          /<%[^%]{0,200}(`|\b(system|exec|spawn|eval|popen|IO|File|Open3|Kernel|Object|Process|Dir|ObjectSpace|Pathname|PTY|Fiddle|require\w*|load|fork|\w*send|const_get|\w+_eval|Net|URI|open)\b|%x)/,
          /^\s*(system|exec|spawn|fork|eval|require|load|open|IO|File|Kernel|Process)\b[ .(][^:]{0,80}[("'`]/,
        ),
      },
    ],
    why: 'Rails runs the Ruby code between the marks before it reads the settings.',
    source: 'Rails guides, configuring a database and fixtures',
  },
];
