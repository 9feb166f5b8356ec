import { MARK, type Mechanism, PYTHON_TOUCH, RUBY_TOUCH, SHELL_TOUCH, TOUCH } from './mechanism.ts';

const CMAKE = 'cmake_minimum_required(VERSION 3.20)\nproject(p C)\nadd_executable(d d.c)\n';
const C = { 'd.c': 'int main(void) { return 0; }\n' };
const BUILD = 'cmake -S . -B b && cmake --build b';

const cmake = (name: string, added: string, command = BUILD): Mechanism => ({
  name: `CMake: ${name}`,
  rule: 'build-cmake',
  base: { ...C, 'CMakeLists.txt': CMAKE },
  attack: { 'CMakeLists.txt': `${CMAKE}${added}\n` },
  command,
});

export const BUILDS: readonly Mechanism[] = [
  {
    name: 'Makefile',
    rule: 'build-make',
    base: { Makefile: 'all:\n\techo built\n' },
    attack: { Makefile: `all:\n\techo built\n\t@${TOUCH}\n` },
    command: 'make',
  },
  {
    name: 'GNUmakefile next to Makefile',
    rule: 'build-make',
    base: { Makefile: 'all:\n\techo built\n' },
    attack: { GNUmakefile: `all:\n\t@${TOUCH}\n` },
    command: 'make',
  },
  {
    name: 'a variable of a file that the Makefile includes',
    rule: 'build-make',
    base: { Makefile: 'include config.mk\nall:\n\techo $(NAME)\n', 'config.mk': 'NAME = a\n' },
    attack: { 'config.mk': `NAME = a\nDATE != ${TOUCH}\n` },
    command: 'make',
  },
  {
    name: 'a script that the Makefile runs',
    rule: 'reached',
    base: { Makefile: 'all:\n\tsh tools/gen.txt\n', 'tools/gen.txt': 'echo built\n' },
    attack: { 'tools/gen.txt': `echo built\n${TOUCH}\n` },
    command: 'make',
  },
  {
    name: 'configure',
    rule: 'build-autotools',
    base: { configure: '#!/bin/sh\necho checking\n' },
    attack: { configure: `#!/bin/sh\necho checking\n${TOUCH}\n` },
    command: './configure',
  },
  cmake('execute_process', `execute_process(COMMAND ${TOUCH})`),
  cmake(
    'a launcher of the compiler',
    `set_target_properties(d PROPERTIES C_COMPILER_LAUNCHER "env;sh;-c;${TOUCH};--")`,
  ),
  cmake('a launcher of every compiler', `set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE "${TOUCH} &&")`),
  cmake('a test', `enable_testing()\nadd_test(NAME t COMMAND ${TOUCH})`, `${BUILD} && cd b && ctest`),
  {
    name: 'CMake: a preset that includes a file',
    rule: 'build-cmake',
    base: {
      ...C,
      'CMakeLists.txt': CMAKE,
      'CMakePresets.json':
        '{"version":3,"configurePresets":[{"name":"d","generator":"Unix Makefiles","binaryDir":"b"}]}\n',
    },
    attack: {
      'CMakePresets.json': `{"version":3,"configurePresets":[{"name":"d","generator":"Unix Makefiles","binaryDir":"b","cacheVariables":{"CMAKE_PROJECT_INCLUDE":"\${sourceDir}/notes.txt"}}]}\n`,
      'notes.txt': `file(WRITE ${MARK} "")\n`,
    },
    command: 'cmake --preset d',
  },
  {
    name: 'meson.build',
    rule: 'build-tasks',
    base: { ...C, 'meson.build': "project('p', 'c')\nexecutable('d', 'd.c')\n" },
    attack: {
      'meson.build': `project('p', 'c')\nrun_command('touch', '${MARK}', check: false)\nexecutable('d', 'd.c')\n`,
    },
    command: 'meson setup b',
  },
  {
    name: 'SConstruct',
    rule: 'python-runs',
    base: { SConstruct: 'Default(None)\n' },
    attack: { SConstruct: `Default(None)\n${PYTHON_TOUCH}` },
    command: 'scons',
  },
  {
    name: 'a module of site_scons',
    rule: 'python-runs',
    base: { SConstruct: 'Default(None)\n' },
    attack: { 'site_scons/site_init.py': PYTHON_TOUCH },
    command: 'scons',
  },
  {
    name: 'build.xml of ant',
    rule: 'java-build',
    base: { 'build.xml': '<project default="a"><target name="a"><echo message="built"/></target></project>\n' },
    attack: {
      'build.xml': `<project default="a"><target name="a"><exec executable = 'touch'><arg value="${MARK}"/></exec></target></project>\n`,
    },
    command: 'ant',
  },
  {
    name: 'options of the JVM for Maven',
    rule: 'java-wrapper',
    base: { 'pom.xml': '<project/>\n', '.mvn/jvm.config': '-Xmx64m\n' },
    attack: { '.mvn/jvm.config': `-Xmx64m -Xlog:gc*:file=${MARK}\n` },
    command: 'mvn --version',
  },
  {
    name: 'Rakefile',
    rule: 'build-tasks',
    base: { Rakefile: 'task(:default) { puts 1 }\n' },
    attack: { Rakefile: `task(:default) { puts 1 }\n${RUBY_TOUCH}` },
    command: 'rake',
  },
  {
    name: 'tasks next to the Rakefile',
    rule: 'build-tasks',
    base: { Rakefile: 'Dir["tasks/*.rake"].each { |one| load one }\ntask(:default) { puts 1 }\n' },
    attack: { 'tasks/a.rake': RUBY_TOUCH },
    command: 'rake',
  },
  {
    name: 'Doxyfile: the version of a file',
    rule: 'docs-build',
    base: { Doxyfile: 'PROJECT_NAME = p\nQUIET = YES\nGENERATE_LATEX = NO\n', ...C },
    attack: { Doxyfile: `PROJECT_NAME = p\nQUIET = YES\nGENERATE_LATEX = NO\nFILE_VERSION_FILTER = "${TOUCH} ;"\n` },
    command: 'doxygen',
  },
  {
    name: 'Doxyfile: a filter that is a file of the project',
    rule: 'docs-build',
    base: { Doxyfile: 'PROJECT_NAME = p\nQUIET = YES\nGENERATE_LATEX = NO\n', ...C },
    attack: {
      Doxyfile: 'PROJECT_NAME = p\nQUIET = YES\nGENERATE_LATEX = NO\nINPUT_FILTER= ./notes\n',
      notes: `${SHELL_TOUCH}cat "$1"\n`,
    },
    command: 'doxygen',
  },
];
