/*
 * Preloaded into every dynamic program; acts in git only. Refuses pushes, changes of remotes, credential reads and
 * every configuration key that makes git run something, clears the variables that do the same, and pins the four keys
 * through which git runs programs on harmless commands (hooksPath, fsmonitor, sshCommand, credential.helper).
 *
 * Compile: cc -shared -fPIC -O2 git-guard.c -o git-guard.so    Keys: git-keys.h, generated from src/core/git/key-table.ts.
 *
 * SECURITY LIMITATION: this is a convenience and evidence, not a boundary. Static, renamed or copied git, a patched loader, other
 * git libraries and keys written into a file by hand are outside its reach. What they can do inside is bounded by the
 * container (no network, no credential). Their results are audited: .git is never applied to the project.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "git-keys.h"

#define ALLOW_PUSH_FILE "/etc/run-claude/allow-git-push"
/* Only in a container of a rehearsal, which shows what git starts. */
#define OBSERVED_SIGN "/etc/run-claude/observed"

static const char *const cleared[] = {
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS",
	"GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "PAGER", "VISUAL", "EDITOR",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG",
	"GIT_TEMPLATE_DIR", "GIT_ALLOW_PROTOCOL", "GIT_PROTOCOL_FROM_USER",
	"GIT_EXEC_PATH", "LESSOPEN", "LESSCLOSE", "MANPAGER", "BROWSER",
};

static _Noreturn void refuse(const char *what, const char *detail)
{
	char line[512];
	int length = snprintf(line, sizeof line, "run-claude: git-guard refuses %s%s%.300s\n", what,
			      *detail ? ": " : "", detail);
	syscall(SYS_write, 2, line, length);
	for (;;)
		syscall(SYS_exit_group, 128);
}

/* `pattern`: lower case; '<' stands for any text of at least one character, a final '*' for any name. */
static bool matches(const char *pattern, const char *text)
{
	if (*pattern == '\0')
		return *text == '\0';
	if (*pattern == '*')
		return true;
	if (*pattern == '<') {
		for (; *text; text++)
			if (matches(pattern + 1, text + 1))
				return true;
		return false;
	}
	return tolower((unsigned char)*text) == *pattern && matches(pattern + 1, text + 1);
}

/* A key as given on a command line, up to its end or '='. */
static bool executes(const char *key, size_t length)
{
	char name[512];
	if (length >= sizeof name)
		return true;
	memcpy(name, key, length);
	name[length] = '\0';
	for (size_t i = 0; i < sizeof git_exec_keys / sizeof *git_exec_keys; i++)
		if (matches(git_exec_keys[i], name))
			return true;
	/* Read from a command line and not from a repository, so that no table of files has them. */
	static const char *const by_word[] = {"uploadpack.packobjectshook", "protocol.allow", "protocol.<.allow"};
	for (size_t i = 0; i < sizeof by_word / sizeof *by_word; i++)
		if (matches(by_word[i], name))
			return true;
	/* A key that loads further configuration can set any key. */
	return strncasecmp(name, "include.", 8) == 0 || strncasecmp(name, "includeif.", 10) == 0;
}

/* Values that people and agents use to keep git quiet; none runs a program of the agent. */
static bool is_quiet(const char *value)
{
	static const char *const quiet[] = {"",	  "true",      "false",	    ":",	 "cat",
					      "less", "/dev/null", "/bin/true", "/bin/false", "never"};
	for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
		if (strcmp(value, quiet[i]) == 0)
			return true;
	return false;
}

/* KEY=VALUE, or KEY alone, which means true. */
static void check_setting(const char *setting)
{
	size_t length = strcspn(setting, "=");
	bool quiet = setting[length] == '\0' || is_quiet(setting + length + 1);
	if (executes(setting, length) && !(quiet && strncasecmp(setting, "include", 7) != 0))
		refuse("a setting that runs programs", setting);
}

static bool is(const char *word, const char *wanted)
{
	return word != NULL && strcmp(word, wanted) == 0;
}

/* Value of `--name VALUE` or `--name=VALUE`, or NULL; moves *at past a separate value. */
static const char *value_of(char **words, int *at, const char *name)
{
	size_t length = strlen(name);
	const char *word = words[*at];
	if (strcmp(word, name) == 0)
		return words[*at + 1] ? words[++*at] : "";
	if (strncmp(word, name, length) == 0 && word[length] == '=')
		return word + length + 1;
	/* -cKEY=VALUE: git wants a space, its wrappers do not. */
	if (length == 2 && strncmp(word, name, 2) == 0 && word[1] != '-')
		return word + 2;
	return NULL;
}

static bool push_allowed(void)
{
	return syscall(SYS_faccessat, -100, ALLOW_PUSH_FILE, F_OK) == 0;
}

static void check_config(char **words)
{
	bool reads = false;
	for (char **word = words; *word; word++)
		if (strncmp(*word, "--get", 5) == 0 || is(*word, "--list") || is(*word, "-l") || is(*word, "get") ||
		    is(*word, "list") || strncmp(*word, "--unset", 7) == 0 || is(*word, "unset"))
			reads = true;
	if (reads)
		return;
	/* One word besides the options reads the value; two write it. */
	int plain = 0;
	for (char **word = words; *word; word++)
		if (**word != '-' && !is(*word, "set"))
			plain++;
	for (char **word = words; plain > 1 && *word; word++)
		if (**word != '-' && executes(*word, strlen(*word)) && !(word[1] && is_quiet(word[1])))
			refuse("to write a setting that runs programs", *word);
	for (char **word = words; *word; word++)
		if (is(*word, "-e") || is(*word, "--edit") || is(*word, "edit"))
			refuse("to edit configuration", "");
}

static void check_command(const char *command, char **rest)
{
	/* `git remote -v add` adds one too. */
	char **word = rest;
	while (*word && **word == '-')
		word++;
	if ((is(command, "push") || is(command, "send-pack") || is(command, "http-push") || is(command, "send-email")) &&
	    !push_allowed())
		refuse("a push (--allow-git-push lets it pass)", command);
	if (is(command, "remote") && (is(*word, "add") || is(*word, "set-url") || is(*word, "rename")))
		refuse("to change remotes", *word);
	if (is(command, "submodule") && is(*word, "add"))
		refuse("to add a submodule", "");
	if (is(command, "credential") && is(*word, "fill"))
		refuse("to hand out a credential", "");
	if (is(command, "config"))
		check_config(rest);
	if (is(command, "clone"))
		for (int i = 0; rest[i]; i++) {
			const char *setting = value_of(rest, &i, "-c");
			if (setting == NULL)
				setting = value_of(rest, &i, "--config");
			if (setting != NULL)
				check_setting(setting);
		}
}

/* Options of git itself whose value is the next word, which is not a command. Some exist in newer versions only, or are undocumented. */
static bool takes_a_word(const char *option)
{
	static const char *const with_word[] = {"-C", "--git-dir", "--work-tree", "--namespace",
						"--attr-source", "--shallow-file", "--super-prefix"};
	for (size_t i = 0; i < sizeof with_word / sizeof *with_word; i++)
		if (strcmp(option, with_word[i]) == 0)
			return true;
	return false;
}

static void check_words(char **words)
{
	for (int i = 1; words[i]; i++) {
		const char *setting = value_of(words, &i, "--config-env");
		/* The value is in a variable: the key decides. */
		if (setting != NULL && executes(setting, strcspn(setting, "=")))
			refuse("a setting that runs programs", setting);
		if (setting != NULL)
			continue;
		if (is(words[i], "-c")) {
			check_setting(value_of(words, &i, "-c"));
			continue;
		}
		if (takes_a_word(words[i])) {
			if (words[i + 1])
				i++;
			continue;
		}
		if (strncmp(words[i], "--exec-path=", 12) == 0)
			refuse("another set of git programs", words[i]);
		if (*words[i] != '-') {
			check_command(words[i], words + i + 1);
			return;
		}
	}
}

/* One 'quoted' word of GIT_CONFIG_PARAMETERS into `word`; returns what follows it, or NULL when it is not such a word. */
static const char *unquote(const char *at, char *word, size_t size)
{
	size_t length = 0;
	if (*at++ != '\'')
		return NULL;
	for (;; at++) {
		if (*at == '\0' || length + 1 >= size)
			return NULL;
		/* A quote or ! inside is written '\'' or '\!'. */
		if (*at == '\'' && at[1] == '\\' && at[2] && at[3] == '\'') {
			word[length++] = at[2];
			at += 3;
		} else if (*at == '\'') {
			break;
		} else {
			word[length++] = *at;
		}
	}
	word[length] = '\0';
	return at + 1;
}

/* What `git -c` hands to its children: 'KEY=VALUE' or 'KEY'='VALUE', separated by spaces. */
static void check_parameters(const char *at)
{
	static char key[4096], value[4096], setting[8200];
	while (*at) {
		if (*at == ' ') {
			at++;
			continue;
		}
		const char *next = unquote(at, key, sizeof key);
		value[0] = '\0';
		bool apart = next && *next == '=';
		if (apart)
			next = next[1] == '\'' ? unquote(next + 1, value, sizeof value) : next + 1;
		if (next == NULL)
			refuse("GIT_CONFIG_PARAMETERS that it cannot read", "");
		snprintf(setting, sizeof setting, apart ? "%s=%s" : "%s", key, value);
		check_setting(setting);
		at = next;
	}
}

static const char *const pins[][2] = {
	{"core.hooksPath", "/dev/null"},
	{"core.fsmonitor", "false"},
	{"core.sshCommand", "/bin/false"},
	{"credential.helper", ""},
};
#define PINS ((int)(sizeof pins / sizeof *pins))

static const char *numbered(const char *what, int number)
{
	static char name[40];
	snprintf(name, sizeof name, "GIT_CONFIG_%s_%d", what, number);
	return name;
}

/* run-claude's come last, so they win. A git that git started has them already. */
static void pin_settings(void)
{
	const char *text = getenv("GIT_CONFIG_COUNT");
	char *end = NULL;
	long count = text ? strtol(text, &end, 10) : 0;
	if (count < 0 || count > 1000 || (text && *end))
		refuse("GIT_CONFIG_COUNT that is not a number", text);
	bool ours = count >= PINS;
	for (int i = 0; i < PINS && ours; i++) {
		const char *key = getenv(numbered("KEY", count - PINS + i));
		ours = key && strcmp(key, pins[i][0]) == 0;
		const char *value = getenv(numbered("VALUE", count - PINS + i));
		ours = ours && value && strcmp(value, pins[i][1]) == 0;
	}
	for (int i = 0; i < (ours ? count - PINS : count); i++) {
		const char *key = getenv(numbered("KEY", i));
		const char *value = getenv(numbered("VALUE", i));
		if (key && executes(key, strlen(key)) && !(value && is_quiet(value)))
			refuse("a setting that runs programs", key);
	}
	if (ours)
		return;
	for (int i = 0; i < PINS; i++) {
		setenv(numbered("KEY", count + i), pins[i][0], 1);
		setenv(numbered("VALUE", count + i), pins[i][1], 1);
	}
	char total[24];
	snprintf(total, sizeof total, "%ld", count + PINS);
	setenv("GIT_CONFIG_COUNT", total, 1);
}

static void check_environment(void)
{
	const char *parameters = getenv("GIT_CONFIG_PARAMETERS");
	if (parameters)
		check_parameters(parameters);
	for (size_t i = 0; i < sizeof cleared / sizeof *cleared; i++) {
		const char *value = getenv(cleared[i]);
		if (value && !is_quiet(value))
			unsetenv(cleared[i]);
	}
	pin_settings();
}

static bool is_git(void)
{
	char path[512];
	long length = syscall(SYS_readlinkat, -100, "/proc/self/exe", path, sizeof path - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	const char *base = strrchr(path, '/');
	return base != NULL && (strcmp(base, "/git") == 0 || strncmp(base, "/git-", 5) == 0);
}

/* glibc hands a constructor the arguments of main. */
__attribute__((constructor)) static void guard(int argc, char **argv, char **envp)
{
	(void)envp;
	if (argc < 1 || !is_git() || syscall(SYS_faccessat, -100, OBSERVED_SIGN, F_OK) == 0)
		return;
	const char *base = strrchr(argv[0], '/');
	base = base ? base + 1 : argv[0];
	/* git-push and its like name the command themselves. */
	if (strncmp(base, "git-", 4) == 0)
		check_command(base + 4, argv + 1);
	else
		check_words(argv);
	check_environment();
}
