import { readStructure } from '../../formats/structured.ts';
import { oneOf, pattern, words } from '../../formats/words.ts';
import { onlyLines } from '../../judges/harmless-change.ts';
import type { HarmlessKeys } from '../../judges/harmless-keys.ts';
import type { HarmlessChange } from '../../judges/rule.ts';

const RULES = '{*_library,*_test,*_binary,filegroup,test_suite,alias}';

/** What a Bazel package may say: which files are compiled, for whom, and how a test is scheduled. */
export const BAZEL_PACKAGE: HarmlessKeys = {
  word: [
    `${RULES}.{name,importpath,importmap,size,timeout,main,edition,crate_name,module_name}`,
    'config_setting.name',
  ],
  words: [`${RULES}.tags`],
  switch: [`${RULES}.{testonly,flaky,shard_count,local,alwayslink,linkstatic,cgo,pure,race,static}`],
  text: ['licenses[]'],
  any: words`package.default_visibility package.licenses exports_files`,
  // Scripts, and rules that write or run something under a name like those of compilers.
  never: words`sh_*.*** *run_*.*** *gen*_binary.*** *_genrule.***`,
};
const COMPILERS = oneOf`
  \w+_(library|test|binary) filegroup test_suite alias
`;
const OF_THEM = oneOf`
  srcs hdrs textual_hdrs deps runtime_deps implementation_deps exports embed embedsrcs data tests visibility proto crate
  strip_include_prefix includes target_compatible_with
`;
const LABEL = /[\w./+@=~*-]*(:[\w./+@=~-]+)?/.source;
/** Labels and files of the workspace. Not here: what an alias or a filegroup stands for, since other rules may run it. */
export const BAZEL_PACKAGE_SAFE = pattern()`^(?!sh_|\w*run_)(?!(filegroup|alias)\.(?!visibility|target_compatible_with))(${COMPILERS})\.(${OF_THEM})(\.select)?(\[\])*=(?!.*\.\.)(\[\]|${LABEL})$`;

const VERSIONS =
  /^(bazel_dep|module|single_version_override|go_sdk\.download|python\.toolchain)\.(version|python_version|compatibility_level)$/;

const OPTIONS = oneOf`
  jobs=\d{1,4} (test_output|color|curses|show_progress\w*|show_timestamps|show_result|verbose_failures|keep_going|announce_rc|test_summary|test_verbose_timeout_warnings)(=\w+)?
  (test_timeout|flaky_test_attempts|runs_per_test|show_progress_rate_limit|local_test_jobs)=[\d.,]{1,20} (compilation_mode|c)=(dbg|fastbuild|opt) enable_bzlmod(=(true|false))?
  incompatible_strict_action_env(=(true|false))? nobuild_runfile_links build_tests_only
`;
/** A line of options that decide how much is shown, and how many actions run at once. */
const BAZELRC_LINE = pattern()`^(build|test|run|query|fetch|common|always|coverage)(:[\w-]+)?( +--(${OPTIONS}))+$|^$|^# [\w .,:/()'-]*$`;

/** Options of Bazel that load, fetch and run nothing. The order of the other lines stays. */
const PLAIN_OPTIONS: HarmlessChange = {
  files: ['.bazelrc'],
  proves: ({ before, after }) => {
    // Such a line goes on in the next one, whatever that says.
    if ([before, after].some((text) => /\\[ \t\r]*$/m.test(text))) return false;
    return onlyLines(BAZELRC_LINE)({ before, after });
  },
};

/** Another version of a module, its dependencies and toolchains: Bazel's registry has each under its name. */
const PLAIN_MODULES: HarmlessChange = {
  files: ['MODULE.bazel'],
  proves: ({ before, after }) => {
    const [old, now] = [before, after].map((text) => withoutVersions(text));
    return old !== undefined && old === now;
  },
};

function withoutVersions(text: string): string | undefined {
  const leaves = readStructure(text, 'starlark', 'MODULE.bazel')?.leaves;
  if (leaves === undefined || leaves.some(({ key }) => key === 'code')) return undefined;
  return JSON.stringify(
    leaves.map(({ key, value }) => [key, VERSIONS.test(key) && /^\d[\w.+-]{0,60}$/.test(value) ? '' : value]),
  );
}

/** Changes of Bazel's own files that are plain data. */
export const PLAIN_BAZEL: readonly HarmlessChange[] = [
  { files: ['.bazelversion'], proves: ({ after }) => /^\d{1,4}\.\d{1,4}\.\d{1,4}\n?$/.test(after) },
  PLAIN_MODULES,
  PLAIN_OPTIONS,
];
