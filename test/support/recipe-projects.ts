/** A project without dependencies for each recipe of docs/how-to/environment.md, with a test of its own. */
export interface RecipeProject {
  readonly files: Readonly<Record<string, string>>;
  /** Builds and tests it, after the recipe's setup. */
  readonly test: string;
  readonly prints: RegExp;
}

export const RECIPE_PROJECTS: Readonly<Record<string, RecipeProject>> = {
  npm: {
    files: {
      'package.json': '{"name":"a","version":"1.0.0","scripts":{"test":"node --test"}}',
      'package-lock.json': '{"name":"a","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"a"}}}',
      'a.test.js': "require('node:test')('adds', () => require('node:assert').equal(1 + 1, 2));\n",
    },
    test: 'npm test',
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
};
