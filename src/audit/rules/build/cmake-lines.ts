import { anyOf } from '../../formats/words.ts';

/** What runs, loads or fetches something, in a line of a preset, a template or a manifest of Conan or vcpkg. */
export const CMAKE_DANGER = anyOf(
  /execute_process|add_custom_(command|target)|file\s*\(\s*(DOWNLOAD|UPLOAD|GENERATE|WRITE|APPEND)/i,
  /FetchContent|ExternalProject|GIT_(REPOSITORY|TAG)|URL(_HASH)?\b|\binclude\s*\(/i,
  /CMAKE_\w{0,60}(COMPILER|LAUNCHER|TOOLCHAIN|PROJECT|LINKER|MAKE_PROGRAM)|toolchainFile|cacheVariables/i,
  // With or without the prefix: properties of a target, a folder and the whole build.
  /LAUNCH(ER)?(_|\b)|(CLANG_TIDY|CPPCHECK|CPPLINT|WHAT_YOU_USE|EMULATOR|LINK_WHAT)|RULE_LAUNCH|VERIFY_INTERFACE/i,
  /add_test|gtest_discover|ctest_|\bCOMMAND\b|_(PROGRAM|EXECUTABLE|TOOL|GENERATOR)\b|set_(target_|directory_|source_files_|tests_)?propert/i,
  /load_cache|load_command|build_command|variable_watch|use_mangled|site_name|subdirs|aux_source|\bmacro\s*\(|include_external/i,
  /find_package|find_library|add_subdirectory|\$ENV|\$CACHE|-fplugin|-Xclang|-wrapper|@\w+@|compile_options|link_options|FLAGS/i,
  // Programs of a toolchain, command lines of a generator, folders of modules, and files elsewhere.
  /CMAKE_(AR|RANLIB|NM|STRIP|OBJCOPY|OBJDUMP|READELF|DLLTOOL|ADDR2LINE|MT|RC|TAPI|INSTALL_NAME_TOOL|LIPO|COMMAND)\b/i,
  /CMAKE_\w{0,60}(CREATE|ARCHIVE|LINK|COMPILE|PREPROCESS|ASSEMBL)|CMAKE_(MODULE|PREFIX|FIND_ROOT|PROGRAM|FRAMEWORK)_PATH|\w_DIR\b.{0,200}CACHE/i,
  /\bENV\s*\{|file\s*\(\s*(RENAME|COPY\w*|INSTALL|CREATE_LINK|REMOVE\w*|CHMOD\w*|ARCHIVE_\w+|CONFIGURE)|(^|[\s"(}])(\.\.|~)?\/(?!usr\/)/i,
  /cmakeExecutable|environment|include"|exec_program|try_run|cmake_language|install\s*\(\s*(CODE|SCRIPT)/i,
  /find_program|registries|overlay|environmentSetupScript|compilers|"kits?"|vendor|default-registry|repository/i,
  /^\[(generators|tool_requires|build_requires|imports)\]|remotes|^\.{0,2}\//i,
);
/** What matches and does not. */
export const CMAKE_SAFE = anyOf(
  /^"(displayName|description|name)"\s*:\s*"[^"]*",?$/i,
  // Warnings, standards, optimization and debugging.
  /^(target_compile_options|add_compile_options|set)\s*\([^$`;|]*-(W[\w=-]|O[0-3sgz]|g|std=[\w+])[\w\s"=+.-]{0,400}\)?$/i,
  /^"builtin-baseline"\s*:\s*"[\da-f]{4,40}",?$/i,
  // A folder or a package of the build by a plain name.
  /^add_subdirectory\s*\(\s*[\w/-]+\s*\)$|^find_package\s*\(\s*\w+(\s+[\d.]+)?(\s+(REQUIRED|QUIET|CONFIG|COMPONENTS|EXACT|MODULE|\w+))*\s*\)$/i,
);
