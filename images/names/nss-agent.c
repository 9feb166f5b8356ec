/*
 * A source of names for glibc (nsswitch.conf): the uid and gid of the running process, where /etc/passwd and /etc/group do
 * not have them, are "agent" with the home /home/agent. The agent's uid is known only when a session starts: it is the
 * project owner's, or one that no account of the host has. Without a name, ssh, whoami and Node's os.userInfo() fail.
 *
 * Compile: cc -shared -fPIC -O2 nss-agent.c -o libnss_agent.so.2
 *
 * Static programs and those that read /etc/passwd themselves find no name.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <nss.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

enum nss_status _nss_agent_getpwuid_r(uid_t uid, struct passwd *found, char *buffer, size_t size, int *error);
enum nss_status _nss_agent_getgrgid_r(gid_t gid, struct group *found, char *buffer, size_t size, int *error);

/* The caller frees nothing and may write to what it gets: every text is in its own buffer. */
static const char NAME[] = "agent", PASSWORD[] = "x", COMMENT[] = "", HOME[] = "/home/agent", SHELL[] = "/bin/bash";

static char *put(char **at, const char *text, size_t size)
{
	char *here = memcpy(*at, text, size);
	*at += size;
	return here;
}

static enum nss_status too_small(int *error)
{
	*error = ERANGE;
	return NSS_STATUS_TRYAGAIN;
}

enum nss_status _nss_agent_getpwuid_r(uid_t uid, struct passwd *found, char *buffer, size_t size, int *error)
{
	if (uid != getuid())
		return NSS_STATUS_NOTFOUND;
	if (size < sizeof NAME + sizeof PASSWORD + sizeof COMMENT + sizeof HOME + sizeof SHELL)
		return too_small(error);
	*found = (struct passwd){
		.pw_name = put(&buffer, NAME, sizeof NAME),
		.pw_passwd = put(&buffer, PASSWORD, sizeof PASSWORD),
		.pw_uid = uid,
		.pw_gid = getgid(),
		.pw_gecos = put(&buffer, COMMENT, sizeof COMMENT),
		.pw_dir = put(&buffer, HOME, sizeof HOME),
		.pw_shell = put(&buffer, SHELL, sizeof SHELL),
	};
	return NSS_STATUS_SUCCESS;
}

enum nss_status _nss_agent_getgrgid_r(gid_t gid, struct group *found, char *buffer, size_t size, int *error)
{
	if (gid != getgid())
		return NSS_STATUS_NOTFOUND;
	/* The list of members, which is empty, comes first: it has to be aligned. */
	size_t gap = -(size_t)buffer % sizeof(char *);
	if (size < gap + sizeof(char *) + sizeof NAME + sizeof PASSWORD)
		return too_small(error);
	char **members = (char **)(void *)(buffer + gap);
	*members = NULL;
	buffer += gap + sizeof(char *);
	*found = (struct group){
		.gr_name = put(&buffer, NAME, sizeof NAME),
		.gr_passwd = put(&buffer, PASSWORD, sizeof PASSWORD),
		.gr_gid = gid,
		.gr_mem = members,
	};
	return NSS_STATUS_SUCCESS;
}
