/** Tests of Node's own, in a package without dependencies. */
const NODE_PACKAGE = {
  'package.json': '{"name":"a","version":"1.0.0","scripts":{"test":"node --test"}}',
  'a.test.js': "require('node:test')('adds', () => require('node:assert').equal(1 + 1, 2));\n",
};

/** A project without dependencies for each recipe of docs/reference/environment.md, with its own test. */
export interface RecipeProject {
  readonly files: Readonly<Record<string, string>>;
  /** Builds and tests it, after the recipe's setup. */
  readonly test: string;
  readonly prints: RegExp;
}

export const RECIPE_PROJECTS: Readonly<Record<string, RecipeProject>> = {
  npm: {
    files: {
      ...NODE_PACKAGE,
      'package-lock.json': '{"name":"a","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"a"}}}',
    },
    test: 'npm test',
    prints: /pass 1/,
  },
  pnpm: {
    files: {
      ...NODE_PACKAGE,
      'pnpm-lock.yaml':
        "lockfileVersion: '9.0'\n\nsettings:\n  autoInstallPeers: true\n  excludeLinksFromLockfile: false\n\nimporters:\n\n  .: {}\n",
    },
    test: 'pnpm test',
    prints: /pass 1/,
  },
  yarn: {
    files: { ...NODE_PACKAGE, 'yarn.lock': '# yarn lockfile v1\n' },
    test: 'yarn test',
    prints: /pass 1/,
  },
  Python: {
    files: {
      'requirements.txt': '',
      'native.c': '#include <Python.h>\nint main(void) { return Py_IsInitialized(); }\n',
      'test_a.py':
        'import unittest\nclass A(unittest.TestCase):\n  def test_adds(self):\n    self.assertEqual(1 + 1, 2)\n',
    },
    test: '.venv/bin/python -m unittest 2>&1 && cc $(python3-config --includes) -c native.c',
    prints: /Ran 1 test[\s\S]*OK/,
  },
  Ruby: {
    files: {
      Gemfile: "source 'https://rubygems.org'\n",
      'Gemfile.lock': 'GEM\n  remote: https://rubygems.org/\n  specs:\n\nPLATFORMS\n  ruby\n\nDEPENDENCIES\n',
      'extconf.rb': "require 'mkmf'\ncreate_makefile('native')\n",
      'native.c': '#include <ruby.h>\nvoid Init_native(void) { rb_define_module("Native"); }\n',
      'a.rb': 'require \'./native\'\nputs "ruby #{Native.name} #{1 + 1}"\n',
    },
    test: 'ruby extconf.rb && make && bundle exec ruby a.rb',
    prints: /ruby Native 2/,
  },
  PHP: {
    files: {
      'composer.json': '{"autoload":{"psr-4":{"A\\\\":"src/"}}}',
      'src/Adds.php': '<?php namespace A; class Adds { static function two() { return 1 + 1; } }\n',
      'a.php':
        "<?php require 'vendor/autoload.php'; echo 'php ', A\\Adds::two(), ' ', mb_strlen('é'), ' ', class_exists('DOMDocument') ? 'dom' : 'none', \"\\n\";\n",
    },
    test: 'composer --no-interaction dump-autoload && php a.php',
    prints: /php 2 1 dom/,
  },
  Go: {
    files: {
      'go.mod': 'module example.org/a\n\ngo 1.19\n',
      'go.sum': '',
      'a_test.go':
        'package a\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {\n\tif 1+1 != 2 {\n\t\tt.Fatal()\n\t}\n}\n',
    },
    test: 'go test -v ./...',
    prints: /--- PASS: TestAdds/,
  },
  Rust: {
    files: {
      'Cargo.toml': '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
      'Cargo.lock': 'version = 3\n\n[[package]]\nname = "a"\nversion = "0.1.0"\n',
      'src/lib.rs': '#[test]\nfn adds() {\n    assert_eq!(1 + 1, 2);\n}\n',
    },
    test: 'cargo test',
    prints: /test adds \.\.\. ok/,
  },
  'JVM, from Debian alone': {
    files: {
      'pom.xml': `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId>
  <artifactId>a</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency>
  </dependencies>
</project>
`,
      'src/test/java/ATest.java':
        'public class ATest {\n  @org.junit.Test public void adds() { org.junit.Assert.assertEquals(2, 1 + 1); }\n}\n',
    },
    test: 'mvn -o -B -Dmaven.repo.local=/usr/share/maven-repo test',
    prints: /Tests run: 1, Failures: 0/,
  },
  Elixir: {
    files: {
      'mix.exs': 'defmodule A.MixProject do\n  use Mix.Project\n  def project, do: [app: :a, version: "0.1.0"]\nend\n',
      'test/test_helper.exs': 'ExUnit.start()\n',
      'test/a_test.exs': 'defmodule ATest do\n  use ExUnit.Case\n  test "adds" do\n    assert 1 + 1 == 2\n  end\nend\n',
    },
    test: 'mix test',
    prints: /1 test, 0 failures/,
  },
  'C and C++': {
    files: {
      'CMakeLists.txt':
        'cmake_minimum_required(VERSION 3.13)\nproject(a C CXX)\nenable_testing()\nadd_executable(a a.c)\nadd_executable(b b.cc)\nadd_test(NAME a COMMAND a)\nadd_test(NAME b COMMAND b)\n',
      'a.c': 'int main(void) { return 0; }\n',
      'b.cc': '#include <vector>\nint main() { return std::vector<int>{1}.size() - 1; }\n',
    },
    test: 'cmake -S . -B out -G Ninja && cmake --build out && ctest --test-dir out',
    prints: /100% tests passed, 0 tests failed out of 2/,
  },
};
