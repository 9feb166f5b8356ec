/* Joins loopback TCP ports to unix sockets: forwarder PORT=SOCKET [PORT=SOCKET]...
 *
 * One process, one epoll, no fork, no thread and no memory asked for after start, so that a full pids limit or memory
 * limit does not silence it. Out of descriptors it stops accepting until a connection ends. A socket that nobody
 * serves (the gateway being started again) is tried again for WAIT_MS before the connection is dropped.
 * It runs as the agent's user: the agent can kill it (init starts it again) but gains nothing by that, because the
 * policy is at the other end of the socket. It checks nothing that passes.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { PORTS = 16, PAIRS = 512, BUFFER = 65536, WAIT_MS = 10000, RETRY_MS = 25 };

struct side {
	int fd;
	int pair, which;        /* where this side is, for epoll */
	int eof, shut;          /* read to its end; its writing half closed by us */
	unsigned events;        /* what epoll knows */
	size_t from, to;        /* bytes read from this side and not yet written to the other */
	char bytes[BUFFER];
};

struct pair {
	int used, joined, port;
	long long since;
	struct side side[2];    /* 0: TCP, 1: unix */
};

static struct listener {
	int fd[2];
	struct sockaddr_un to;
} listeners[PORTS];
static int listener_count;
static struct pair pairs[PAIRS];
static int epoll_fd, live, accepting = 1, waiting;

static long long now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* epoll data: listeners as 1 + index * 2 + family, pair sides as PORTS * 2 + 1 + pair * 2 + which. */
static void watch(int fd, unsigned events, unsigned known, unsigned long data)
{
	struct epoll_event event = { .events = events, .data.u64 = data };
	if (events == known)
		return;
	if (epoll_ctl(epoll_fd, known == ~0u ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event) < 0)
		perror("forwarder: epoll_ctl");
}

static void accept_events(int on)
{
	if (on == accepting)
		return;
	accepting = on;
	for (int i = 0; i < listener_count; i++)
		for (int f = 0; f < 2; f++)
			if (listeners[i].fd[f] >= 0)
				watch(listeners[i].fd[f], on ? EPOLLIN : 0, 1, 1 + i * 2 + f);
}

static void drop(struct pair *p)
{
	for (int i = 0; i < 2; i++)
		if (p->side[i].fd >= 0)
			close(p->side[i].fd);
	if (!p->joined)
		waiting--;
	p->used = 0;
	live--;
	accept_events(1);
}

static void side_init(struct side *s, int fd, int pair, int which)
{
	s->fd = fd;
	s->pair = pair;
	s->which = which;
	s->eof = s->shut = 0;
	s->from = s->to = 0;
	s->events = ~0u;
}

static void interest(struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		struct side *s = &p->side[i], *o = &p->side[!i];
		unsigned events = 0;
		if (s->fd < 0)
			continue;
		if (!s->eof && s->to < BUFFER)
			events |= EPOLLIN;
		if (o->from < o->to)
			events |= EPOLLOUT;
		/* A side that is read to its end reports its hang-up for ever: it leaves epoll until there is more to write. */
		if (events == 0 && s->eof) {
			if (s->events != ~0u)
				epoll_ctl(epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
			s->events = ~0u;
			continue;
		}
		watch(s->fd, events, s->events, PORTS * 2 + 1 + s->pair * 2 + s->which);
		s->events = events;
	}
}

/* Moves what can be moved from one side to the other; -1 when the pair is broken. */
static int pump(struct side *s, struct side *o)
{
	for (;;) {
		if (s->from < s->to) {
			ssize_t n = send(o->fd, s->bytes + s->from, s->to - s->from, MSG_NOSIGNAL);
			if (n < 0)
				return errno == EAGAIN || errno == EINTR ? 0 : -1;
			s->from += n;
			if (s->from < s->to)
				continue;
		}
		s->from = s->to = 0;
		if (s->eof) {
			if (!s->shut)
				shutdown(o->fd, SHUT_WR);
			s->shut = 1;
			return 0;
		}
		ssize_t n = recv(s->fd, s->bytes, BUFFER, 0);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -1;
		if (n == 0)
			s->eof = 1;
		else
			s->to = n;
	}
}

/* Tries to reach the unix socket; leaves the pair waiting when nobody serves it yet. */
static void join(struct pair *p)
{
	struct sockaddr_un *to = &listeners[p->port].to;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		drop(p);
		return;
	}
	if (connect(fd, (struct sockaddr *)to, sizeof *to) < 0) {
		int why = errno;
		close(fd);
		if ((why != EAGAIN && why != ECONNREFUSED && why != ENOENT) || now_ms() - p->since > WAIT_MS)
			drop(p);
		return;
	}
	p->joined = 1;
	waiting--;
	side_init(&p->side[1], fd, (int)(p - pairs), 1);
	interest(p);
}

static void take(int listener, int family)
{
	int slot = 0, on = 1;
	while (slot < PAIRS && pairs[slot].used)
		slot++;
	if (slot == PAIRS) {
		accept_events(0);
		return;
	}
	int fd = accept4(listeners[listener].fd[family], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0) {
		/* Out of descriptors: a level-triggered listener would spin. The next connection that ends turns it on;
		 * with none living, sleep a little instead. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			if (live > 0)
				accept_events(0);
			else
				usleep(RETRY_MS * 1000);
		}
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	struct pair *p = &pairs[slot];
	p->used = 1;
	p->joined = 0;
	p->port = listener;
	p->since = now_ms();
	side_init(&p->side[0], fd, slot, 0);
	p->side[1].fd = -1;
	live++;
	waiting++;
	join(p);
}

static void serve(struct pair *p, unsigned events)
{
	if (!p->used || !p->joined)
		return;
	struct side *a = &p->side[0], *b = &p->side[1];
	if (pump(a, b) < 0 || pump(b, a) < 0 || (a->shut && b->shut) || (events & EPOLLERR)) {
		drop(p);
		return;
	}
	interest(p);
}

static int listen_on(int family, int port)
{
	int on = 1, fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), bound;
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (family == AF_INET) {
		struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		bound = bind(fd, (struct sockaddr *)&a, sizeof a);
	} else {
		struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT };
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
		bound = bind(fd, (struct sockaddr *)&a, sizeof a);
	}
	if (bound < 0 || listen(fd, 1024) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int main(int argc, char **argv)
{
	struct epoll_event events[64];
	struct rlimit files;
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "forwarder");
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (argc < 2 || argc - 1 > PORTS || epoll_fd < 0) {
		fprintf(stderr, "usage: forwarder PORT=SOCKET...\n");
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		struct listener *l = &listeners[listener_count];
		char *path = strchr(argv[i], '=');
		int port = atoi(argv[i]);
		if (!path || port < 1 || port > 65535 || strlen(path + 1) >= sizeof l->to.sun_path) {
			fprintf(stderr, "forwarder: bad port or socket: %s\n", argv[i]);
			return 2;
		}
		l->to.sun_family = AF_UNIX;
		strcpy(l->to.sun_path, path + 1);
		l->fd[0] = listen_on(AF_INET, port);
		l->fd[1] = listen_on(AF_INET6, port);
		if (l->fd[0] < 0) {
			fprintf(stderr, "forwarder: port %d: %s\n", port, strerror(errno));
			return 1;
		}
		for (int f = 0; f < 2; f++)
			if (l->fd[f] >= 0)
				watch(l->fd[f], EPOLLIN, ~0u, 1 + listener_count * 2 + f);
		listener_count++;
	}
	for (;;) {
		int n = epoll_wait(epoll_fd, events, 64, waiting > 0 ? RETRY_MS : -1);
		if (n < 0 && errno != EINTR)
			return 1;
		for (int i = 0; i < n; i++) {
			unsigned long data = events[i].data.u64;
			if (data <= PORTS * 2)
				take((data - 1) / 2, (data - 1) % 2);
			else
				serve(&pairs[(data - PORTS * 2 - 1) / 2], events[i].events);
		}
		for (int i = 0; waiting > 0 && i < PAIRS; i++)
			if (pairs[i].used && !pairs[i].joined)
				join(&pairs[i]);
	}
}
