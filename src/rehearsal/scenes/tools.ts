import { LONG_MS, type Scene, SHORT_MS, scenes } from './scene.ts';

/** Build tools and package managers that the image has, or that `[environment]` brings. */
export const TOOL_SCENES: readonly Scene[] = [
  ...scenes({ limitMs: SHORT_MS }, [
    ['make -n', 'Makefile makefile GNUmakefile', 'make'],
    ['just --list', 'justfile Justfile .justfile', 'just'],
    ['rake -T', 'Rakefile', 'rake'],
    ['bundle check', 'Gemfile', 'bundle'],
    ['composer validate', 'composer.json', 'composer'],
    ['terraform validate', 'main.tf', 'terraform'],
    ['docker compose config', 'compose.yaml compose.yml docker-compose.yml', 'docker'],
    ['pre-commit', '.pre-commit-config.yaml', 'pre-commit', 'pre-commit validate-config'],
    ['lefthook', 'lefthook.yml', 'lefthook', 'lefthook validate'],
  ]),
  ...scenes({ limitMs: LONG_MS }, [
    ['make', 'Makefile makefile GNUmakefile', 'make'],
    ['cargo check', 'Cargo.toml', 'cargo', 'cargo check --offline'],
    ['go vet', 'go.mod', 'go', 'go vet ./...'],
    ['gradle help', 'build.gradle build.gradle.kts settings.gradle', 'gradle', 'gradle help --offline'],
    ['mvn validate', 'pom.xml', 'mvn', 'mvn -o -q validate'],
    ['cmake', 'CMakeLists.txt', 'cmake', 'cmake -S . -B /tmp/build'],
    ['dotnet build', 'Directory.Build.props global.json', 'dotnet', 'dotnet build --no-restore'],
    ['mix compile', 'mix.exs', 'mix'],
    ['swift package describe', 'Package.swift', 'swift'],
  ]),
];
