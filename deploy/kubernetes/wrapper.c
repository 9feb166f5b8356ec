/*
 * What a PodSpec has no field for. containerd calls this program in place of runc (BinaryName of the RuntimeClass
 * run-claude), and it calls runc with the same words:
 *
 *   run-claude-runc [GLOBAL OPTION]... create --bundle DIR [OPTION]... ID
 *
 * Before `create` (and `run`) it rewrites DIR/config.json of a container whose pod has the annotation
 * run-claude.confine.NAME, which src/engines/render/confine.ts writes: an empty network namespace, namespaces of its own for IPC,
 * control groups and processes, masked and read-only paths, limits of processes and files, no swap, directories in memory
 * with their flags, and no other variable. A container named `agent` must have the annotation, without a network. Every other
 * container, and every other command, is passed on unchanged.
 *
 * It fails closed: what it cannot read, or does not know, ends with status 1, and containerd reports the reason. The
 * annotation has no path of the node and no privilege, and its limits are bounded (MAX_...).
 *
 * Named run-claude-runc or run-claude-crun, it calls runc or crun, from the directories of RUNTIME_DIRS.
 *
 * Compile: gcc -static -O2 -std=gnu11 -Wall -Wextra -Werror -o run-claude-runc wrapper.c -ljansson
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CONFIG "config.json"
#define REWRITTEN "config.json.run-claude"
#define CONTAINER_TYPE "io.kubernetes.cri.container-type"
#define CONTAINER_NAME "io.kubernetes.cri.container-name"
#define CONFINE "run-claude.confine."
#define AGENT "agent"
#define MAX_CONFIG (8L << 20)
#define MAX_PIDS 4194304
#define MAX_FILES 1048576
#define MAX_KILOBYTES (1LL << 32)
#define MAX_ID 4294967294LL

#ifndef RUNTIME_DIRS
#define RUNTIME_DIRS "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin"
#endif

static const char *const runtime_dirs[] = {RUNTIME_DIRS};
static const char *const GLOBAL_VALUES[] = {"root", "log", "log-format", "log-level", "criu", "rootless", "cgroup-manager", NULL};
static const char *const GLOBAL_FLAGS[] = {"debug", "systemd-cgroup", NULL};
static const char *const CREATE_VALUES[] = {"bundle", "console-socket", "pid-file", "preserve-fds", NULL};
static const char *const CREATE_FLAGS[] = {"no-pivot", "no-new-keyring", NULL};

/* runc's log, which containerd reads for the reason. */
static const char *log_path;

__attribute__((format(printf, 1, 2), noreturn)) static void refuse(const char *format, ...)
{
	char text[1024], when[32];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	fprintf(stderr, "run-claude: %s\n", text);
	FILE *log = log_path ? fopen(log_path, "ae") : NULL;
	if (log) {
		char message[1100];
		time_t now = time(NULL);
		snprintf(message, sizeof message, "run-claude: %s", text);
		strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
		json_t *line = json_pack("{s:s, s:s, s:s}", "level", "error", "msg", message, "time", when);
		if (line)
			json_dumpf(line, log, JSON_COMPACT);
		fputc('\n', log);
		fclose(log);
	}
	exit(1);
}

static void *made(void *value)
{
	if (!value)
		refuse("out of memory");
	return value;
}

static void done(int failed)
{
	if (failed)
		refuse("out of memory");
}

static bool is_one_of(const char *name, size_t length, const char *const *names)
{
	for (; *names; names++)
		if (strlen(*names) == length && strncmp(*names, name, length) == 0)
			return true;
	return false;
}

/*
 * The words that an option has: 1 or 2. `value`: its value, or NULL for a flag. Only the spelling that containerd uses is
 * known: a word that runc reads in another way must not hide the command or the bundle.
 */
static int option(char *const word[], const char *const *values, const char *const *flags, const char **value)
{
	*value = NULL;
	if (strncmp(word[0], "--", 2) != 0)
		refuse("unknown option %s", word[0]);
	const char *name = word[0] + 2;
	size_t length = strcspn(name, "=");
	if (length == 0)
		refuse("unknown option %s", word[0]);
	if (is_one_of(name, length, flags) && name[length] == '\0')
		return 1;
	if (!is_one_of(name, length, values))
		refuse("unknown option %s", word[0]);
	*value = name[length] == '=' ? name + length + 1 : word[1];
	if (!*value)
		refuse("%s has no value", word[0]);
	return name[length] == '=' ? 1 : 2;
}

static bool is_named(const char *word, const char *name)
{
	size_t length = strlen(name);
	return strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, length) == 0 &&
	       (word[2 + length] == '=' || word[2 + length] == '\0');
}

/* The bundle of `create`: the working directory where none is named, as for runc. */
static const char *bundle_of(char *const words[])
{
	const char *bundle = NULL, *value;
	while (*words && **words == '-') {
		char *const *at = words;
		words += option(words, CREATE_VALUES, CREATE_FLAGS, &value);
		if (!is_named(*at, "bundle"))
			continue;
		if (bundle)
			refuse("two bundles");
		bundle = value;
	}
	/* Options may follow the ID for some runtimes. */
	if (!words[0] || words[1])
		refuse("a container's ID has to be the last word");
	return bundle ? bundle : ".";
}

static json_t *object_in(json_t *parent, const char *name)
{
	json_t *value = json_object_get(parent, name);
	if (!json_is_object(value))
		refuse(CONFIG " has no object %s", name);
	return value;
}

/* An array of the configuration; a new one where there is none. */
static json_t *array_in(json_t *parent, const char *name)
{
	json_t *value = json_object_get(parent, name);
	if (!value || json_is_null(value)) {
		value = made(json_array());
		done(json_object_set_new(parent, name, value));
	}
	if (!json_is_array(value))
		refuse("%s in " CONFIG " is not a list", name);
	return value;
}

static const char *string_in(json_t *parent, const char *name)
{
	return json_string_value(json_object_get(parent, name));
}

static bool is_below(const char *path, const char *dir)
{
	size_t length = strlen(dir);
	return strncmp(path, dir, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Two spellings of one path would hide a mount from the comparisons here. */
static bool is_plain_path(const char *path)
{
	size_t length = path ? strlen(path) : 0;
	return length > 1 && length < PATH_MAX && path[0] == '/' && path[length - 1] != '/' && !strstr(path, "//") &&
	       !strstr(path, "/./") && !strstr(path, "/../") && strcmp(path + length - 2, "/.") != 0 &&
	       (length < 3 || strcmp(path + length - 3, "/..") != 0);
}

static void own_namespace(json_t *linux_part, const char *type)
{
	json_t *namespaces = array_in(linux_part, "namespaces"), *one;
	size_t i;
	bool has = false;
	json_array_foreach(namespaces, i, one) {
		const char *is = string_in(one, "type");
		if (!is)
			refuse("a namespace has no type");
		if (strcmp(is, type) == 0) {
			has = true;
			done(json_object_clear(one) || json_object_set_new(one, "type", made(json_string(type))));
		}
	}
	if (!has)
		done(json_array_append_new(namespaces, made(json_pack("{s:s}", "type", type))));
}

static bool has_string(json_t *list, const char *text)
{
	json_t *one;
	size_t i;
	json_array_foreach(list, i, one)
		if (json_is_string(one) && strcmp(json_string_value(one), text) == 0)
			return true;
	return false;
}

static void add_paths(json_t *linux_part, const char *name, json_t *paths)
{
	json_t *list = array_in(linux_part, name), *one;
	size_t i;
	if (!json_is_array(paths) || json_array_size(paths) == 0)
		refuse("the annotation has no %s", name);
	json_array_foreach(paths, i, one) {
		const char *path = json_string_value(one);
		if (!is_plain_path(path) || !(is_below(path, "/proc") || is_below(path, "/sys")))
			refuse("the annotation has an unknown path in %s", name);
		if (!has_string(list, path))
			done(json_array_append(list, one));
	}
}

/* Keeps the variables that are named. */
static void keep_environment(json_t *process, json_t *names)
{
	json_t *env = array_in(process, "env"), *one;
	size_t i;
	if (!json_is_array(names))
		refuse("the annotation has no environment");
	for (i = json_array_size(env); i-- > 0;) {
		const char *variable = json_string_value(json_array_get(env, i));
		bool keeps = false;
		size_t at;
		if (!variable)
			refuse("a variable is not text");
		json_array_foreach(names, at, one) {
			const char *name = json_string_value(one);
			if (!name || *name == '\0')
				refuse("the annotation has an unknown environment");
			keeps = keeps || (strncmp(variable, name, strlen(name)) == 0 && variable[strlen(name)] == '=');
		}
		if (!keeps)
			done(json_array_remove(env, i));
	}
}

static json_int_t number(json_t *value, json_int_t least, json_int_t most, const char *name)
{
	json_int_t is = json_integer_value(value);
	if (!json_is_integer(value) || is < least || is > most)
		refuse("the annotation has an unknown %s", name);
	return is;
}

static void set_limits(json_t *config, json_int_t pids, json_int_t files)
{
	json_t *process = object_in(config, "process");
	json_t *resources = object_in(object_in(config, "linux"), "resources");
	json_t *memory = object_in(resources, "memory");
	json_t *limit = json_object_get(memory, "limit"), *is;
	done(json_object_set_new(process, "rlimits",
				 made(json_pack("[{s:s, s:i, s:i}, {s:s, s:I, s:I}]", "type", "RLIMIT_CORE", "hard", 1, "soft", 1,
						"type", "RLIMIT_NOFILE", "hard", files, "soft", files))));
	if (!json_is_integer(limit) || json_integer_value(limit) < 1)
		refuse("the container has no memory limit");
	done(json_object_set(memory, "swap", limit));
	is = json_object_get(json_object_get(resources, "pids"), "limit");
	if (json_is_integer(is) && json_integer_value(is) > 0 && json_integer_value(is) < pids)
		pids = json_integer_value(is);
	done(json_object_set_new(resources, "pids", made(json_pack("{s:I}", "limit", pids))));
}

static void add_option(json_t *options, const char *text)
{
	if (!has_string(options, text))
		done(json_array_append_new(options, made(json_string(text))));
}

__attribute__((format(printf, 2, 3))) static void add_value(json_t *options, const char *format, ...)
{
	char text[64];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	add_option(options, text);
}

/* A mount of the configuration for a directory of the annotation. */
static json_t *memory_mount(json_t *directory)
{
	const char *path, *mode;
	int noexec;
	json_t *kilobytes, *uid = NULL, *gid = NULL;
	json_error_t error;
	if (json_unpack_ex(directory, &error, JSON_STRICT, "{s:s, s:o, s:s, s:b, s?o, s?o}", "path", &path, "kilobytes", &kilobytes,
			   "mode", &mode, "noexec", &noexec, "uid", &uid, "gid", &gid) != 0)
		refuse("the annotation has an unknown directory: %s", error.text);
	size_t digits = strspn(mode, "01234567");
	if (!is_plain_path(path) || is_below(path, "/proc") || is_below(path, "/sys") || strcmp(path, "/dev") == 0 || digits == 0 ||
	    digits > 4 || mode[digits] != '\0')
		refuse("the annotation has an unknown directory");
	json_t *options = made(json_pack("[s, s, s]", "rw", "nosuid", "nodev"));
	if (noexec)
		add_option(options, "noexec");
	add_value(options, "size=%lldk", (long long)number(kilobytes, 1, MAX_KILOBYTES, "size"));
	add_value(options, "mode=%s", mode);
	if (uid)
		add_value(options, "uid=%lld", (long long)number(uid, 0, MAX_ID, "uid"));
	if (gid)
		add_value(options, "gid=%lld", (long long)number(gid, 0, MAX_ID, "gid"));
	return made(json_pack("{s:s, s:s, s:s, s:o}", "destination", path, "type", "tmpfs", "source", "tmpfs", "options", options));
}

static bool is_mounted(json_t *mounts, const char *destination)
{
	json_t *one;
	size_t i;
	json_array_foreach(mounts, i, one) {
		const char *is = string_in(one, "destination");
		if (is && strcmp(is, destination) == 0)
			return true;
	}
	return false;
}

static size_t depth(json_t *mount)
{
	size_t slashes = 0;
	for (const char *at = string_in(mount, "destination"); *at; at++)
		slashes += *at == '/';
	return slashes;
}

/* Of two options that contradict each other, the runtime takes the last. */
static void replace_option(json_t *options, const char *wrong, const char *right)
{
	for (size_t i = json_array_size(options); i-- > 0;) {
		const char *is = json_string_value(json_array_get(options, i));
		if (!is)
			refuse("an option of a mount is not text");
		if (strcmp(is, wrong) == 0)
			done(json_array_remove(options, i));
	}
	add_option(options, right);
}

/* Before every mount that is deeper: a directory in memory must not hide what is mounted below it. */
static void insert_mount(json_t *mounts, json_t *mount)
{
	size_t at = json_array_size(mounts);
	while (at > 0 && depth(json_array_get(mounts, at - 1)) > depth(mount))
		at--;
	done(json_array_insert_new(mounts, at, mount));
}

static bool is_bind(json_t *mount)
{
	const char *type = string_in(mount, "type");
	json_t *options = json_object_get(mount, "options");
	return (type && strcmp(type, "bind") == 0) || has_string(options, "bind") || has_string(options, "rbind");
}

static void set_mounts(json_t *config, json_t *directories, bool has_network)
{
	json_t *before = array_in(config, "mounts"), *after = made(json_array()), *made_here = made(json_array()), *one;
	size_t i;
	if (!json_is_array(directories))
		refuse("the annotation has no directories");
	json_array_foreach(directories, i, one) {
		json_t *mount = memory_mount(one);
		if (is_mounted(made_here, string_in(mount, "destination")))
			refuse("the annotation has a directory twice");
		done(json_array_append_new(made_here, mount));
	}
	json_array_foreach(before, i, one) {
		const char *to = string_in(one, "destination");
		if (!is_plain_path(to))
			refuse("a mount has no plain destination");
		/* A file of the node that the container could fill, and the cluster's resolver. */
		if (strcmp(to, "/dev/termination-log") == 0 || (!has_network && strcmp(to, "/etc/resolv.conf") == 0))
			continue;
		if (is_mounted(made_here, to)) {
			/* The pod's, which all its containers share. */
			if (strcmp(to, "/dev/shm") == 0)
				continue;
			refuse("%s is mounted already", to);
		}
		if (is_bind(one)) {
			json_t *options = array_in(one, "options");
			replace_option(options, "suid", "nosuid");
			replace_option(options, "dev", "nodev");
		}
		json_incref(one);
		insert_mount(after, one);
	}
	json_array_foreach(made_here, i, one) {
		json_incref(one);
		insert_mount(after, one);
	}
	json_decref(made_here);
	done(json_object_set_new(config, "mounts", after));
}

static void confine(json_t *config, const char *name, const char *annotation)
{
	json_error_t error;
	const char *network;
	json_t *version, *environment, *pids, *files, *directories, *masked, *readonly;
	json_t *plan = json_loads(annotation, JSON_REJECT_DUPLICATES, &error);
	if (!plan)
		refuse("the annotation " CONFINE "%s is not JSON: %s", name, error.text);
	if (json_unpack_ex(plan, &error, JSON_STRICT, "{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "version", &version, "network",
			   &network, "environment", &environment, "pids", &pids, "nofile", &files, "tmpfs", &directories, "masked",
			   &masked, "readonly", &readonly) != 0)
		refuse("the annotation " CONFINE "%s has another form: %s", name, error.text);
	if (!json_is_integer(version) || json_integer_value(version) != 1)
		refuse("the annotation " CONFINE "%s is of another version", name);
	bool has_network = strcmp(network, "pod") == 0;
	if (!has_network && strcmp(network, "none") != 0)
		refuse("the annotation " CONFINE "%s has an unknown network", name);
	if (has_network && strcmp(name, AGENT) == 0)
		refuse("a container named " AGENT " has no network");
	json_t *linux_part = object_in(config, "linux");
	static const char *const always[] = {"ipc", "cgroup", "pid", "mount"};
	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		own_namespace(linux_part, always[i]);
	if (!has_network)
		own_namespace(linux_part, "network");
	add_paths(linux_part, "maskedPaths", masked);
	add_paths(linux_part, "readonlyPaths", readonly);
	keep_environment(object_in(config, "process"), environment);
	set_limits(config, number(pids, 1, MAX_PIDS, "pids"), number(files, 1, MAX_FILES, "nofile"));
	set_mounts(config, directories, has_network);
}

/*
 * runc takes names of fields without regard to case, and the last of two that differ in it: what is set here would not hold.
 * Names of a few other letters are the same for runc too: only ASCII is known.
 */
static void refuse_other_spellings(json_t *value)
{
	const char *name, *other;
	json_t *one, *ignored;
	size_t i;
	json_array_foreach(value, i, one)
		refuse_other_spellings(one);
	json_object_foreach(value, name, one) {
		for (const char *at = name; *at; at++)
			if ((unsigned char)*at > 127)
				refuse(CONFIG " has a field with an unknown name");
		json_object_foreach(value, other, ignored)
			if (other != name && strcasecmp(name, other) == 0)
				refuse(CONFIG " has both %s and %s", name, other);
		/* No fields, but names of the user's. */
		if (strcmp(name, "annotations") != 0)
			refuse_other_spellings(one);
	}
}

static json_t *read_config(int bundle, mode_t *mode)
{
	struct stat st;
	json_error_t error;
	int fd = openat(bundle, CONFIG, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		refuse("cannot read " CONFIG ": %s", strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size > MAX_CONFIG)
		refuse(CONFIG " is not a file of at most %ld bytes", MAX_CONFIG);
	*mode = st.st_mode & 0777;
	json_t *config = json_loadfd(fd, JSON_REJECT_DUPLICATES, &error);
	close(fd);
	if (!json_is_object(config))
		refuse("cannot read " CONFIG ": %s", error.text);
	return config;
}

static void write_config(int bundle, json_t *config, mode_t mode)
{
	unlinkat(bundle, REWRITTEN, 0);
	int fd = openat(bundle, REWRITTEN, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || json_dumpfd(config, fd, JSON_COMPACT) != 0 || fchmod(fd, mode) < 0 || fsync(fd) < 0 || close(fd) < 0 ||
	    renameat(bundle, REWRITTEN, bundle, CONFIG) < 0)
		refuse("cannot write " CONFIG ": %s", strerror(errno));
}

static void prepare(const char *bundle_path)
{
	mode_t mode;
	char key[320];
	int bundle = open(bundle_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (bundle < 0)
		refuse("cannot open the bundle: %s", strerror(errno));
	json_t *config = read_config(bundle, &mode);
	json_t *annotations = object_in(config, "annotations");
	const char *type = string_in(annotations, CONTAINER_TYPE), *name = string_in(annotations, CONTAINER_NAME);
	if (type && strcmp(type, "sandbox") == 0)
		return;
	if (!type || strcmp(type, "container") != 0 || !name || *name == '\0' || strlen(name) > 253)
		refuse("this is not a container of containerd's CRI plugin");
	snprintf(key, sizeof key, CONFINE "%s", name);
	const char *annotation = string_in(annotations, key);
	if (!annotation && strcmp(name, AGENT) != 0 && !json_object_get(annotations, key))
		return;
	if (!annotation)
		refuse("the pod has no annotation %s, or pod_annotations of containerd's configuration lacks run-claude.*", key);
	confine(config, name, annotation);
	refuse_other_spellings(config);
	write_config(bundle, config, mode);
	json_decref(config);
	close(bundle);
}

/* Returns only when no runtime of that name was started. */
static void start_runtime(char *argv[])
{
	const char *name = strrchr(argv[0], '/');
	name = name ? name + 1 : argv[0];
	const char *runtime = strcmp(name, "run-claude-runc") == 0 ? "runc" : strcmp(name, "run-claude-crun") == 0 ? "crun" : NULL;
	if (!runtime)
		refuse("this program is named %s, neither run-claude-runc nor run-claude-crun", name);
	for (size_t i = 0; i < sizeof runtime_dirs / sizeof *runtime_dirs; i++) {
		char path[256];
		snprintf(path, sizeof path, "%s/%s", runtime_dirs[i], runtime);
		argv[0] = path;
		execv(path, argv);
		if (errno != ENOENT)
			refuse("cannot start %s: %s", path, strerror(errno));
	}
	refuse("there is no %s", runtime);
}

int main(int argc, char *argv[])
{
	static const char *const information[] = {"--version", "-v", "--help", "-h"};
	char **words = argv + 1;
	if (argc < 2)
		refuse("no command");
	for (size_t i = 0; argc == 2 && i < sizeof information / sizeof *information; i++)
		if (strcmp(*words, information[i]) == 0)
			start_runtime(argv);
	while (*words && **words == '-') {
		const char *value;
		char *const *at = words;
		words += option(words, GLOBAL_VALUES, GLOBAL_FLAGS, &value);
		if (is_named(*at, "log"))
			log_path = value;
	}
	if (!*words)
		refuse("no command");
	if (strcmp(*words, "create") == 0 || strcmp(*words, "run") == 0)
		prepare(bundle_of(words + 1));
	/* It starts from a checkpoint, whose container was made elsewhere. */
	else if (strcmp(*words, "restore") == 0)
		refuse("a checkpoint cannot be restored with this runtime");
	start_runtime(argv);
}
