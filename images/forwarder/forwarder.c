/* Joins loopback TCP ports to unix sockets: forwarder PORT=SOCKET|PORT=tcp:ADDRESS:PORT/NAME|SOCKET=PORT|from=SOCKET|ready=FD...
 *
 * PORT=SOCKET accepts connections on PORT and joins each to SOCKET. PORT=tcp:ADDRESS:PORT/NAME joins them to the gateway of
 * another pod: the first line that it sends there is NAME, of a socket of the gateway. SOCKET=PORT accepts them on SOCKET, whose path is
 * absolute, and joins each to PORT on 127.0.0.1. from=SOCKET is the other direction, for pages that
 * the user looks at: it keeps PARKED connections to SOCKET open. When two bytes arrive on one, a port in network order,
 * it connects to that port on this container's loopback (127.0.0.1, then ::1), answers with one byte (0: connected, 1:
 * nothing listens there), and joins the two. FD of ready= is closed as soon as all of them accept connections.
 *
 * One process, one epoll, no fork, no thread and no allocation after start, so that it works at the pids limit and at the
 * memory limit. Out of descriptors or slots it stops accepting until a connection ends. A socket without a server (the
 * gateway is being restarted) is retried for WAIT_MS before the connection is dropped; until the first one was joined (it
 * starts next to this program), for START_WAIT_MS.
 * It runs as the agent's user: the agent can kill it (init starts it again) but gains nothing by that, because the
 * policy is at the other end of the socket. It checks nothing that passes.
 * It is not dumpable: its environment has the session's variables, and its root is the container's. A process of the same
 * uid can read neither, inside the container or on the host.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { PORTS = 32, PAIRS = 512, BUFFER = 65536, TURNS = 16, WAIT_MS = 10000, START_WAIT_MS = 60000, RETRY_MS = 25 };
/* Idle connections to the socket of from=, and the pause after one of them ended unused: the gateway may be full. */
/* The longest name of a socket, its newline and the end included. */
enum { HELLO = 64 };
enum { PARKED = 4, PARK_PAUSE_MS = 1000 };
enum stage { OPEN, PARKING, DIALING };
enum outcome { BROKEN = -1, STUCK, MOVED };

struct side {
	int fd;
	int eof, shut;          /* read to its end; its end handed on to the other side */
	size_t from, to;        /* bytes read from this side and not yet written to the other */
	char bytes[BUFFER];
};

struct pair {
	int used, joined, port;
	enum stage stage;       /* of a connection from from=; OPEN for all others */
	int family;             /* that is being dialed */
	unsigned serial;        /* of the connection: an event may belong to the one that had this slot before */
	int again;              /* has more to move than one turn allows */
	long long since;
	struct side side[2];    /* 0: TCP, 1: unix */
};

static struct listener {
	int fd[2];
	union {
		struct sockaddr any;
		struct sockaddr_un local;
		struct sockaddr_in port;
		struct sockaddr_in6 port6;
	} to;
	socklen_t size;
	char hello[HELLO];      /* sent before what the client sends; empty for none */
} listeners[PORTS];
static int listener_count;
static struct pair pairs[PAIRS];
static struct sockaddr_un from;
static int parked, has_parked;
static long long park_after;
static int epoll_fd, live, accepting = 1, waiting, unfinished, has_joined;

static long long now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* epoll data: listeners as 1 + index * 2 + family, pairs as PORTS * 2 + 1 + index and, in the upper half, their serial. */
static int watch(int how, int fd, unsigned events, uint64_t data)
{
	struct epoll_event event = { .events = events, .data.u64 = data };
	return epoll_ctl(epoll_fd, how, fd, &event);
}

static void accept_events(int on)
{
	if (on == accepting)
		return;
	accepting = on;
	for (int i = 0; i < listener_count; i++)
		for (int f = 0; f < 2; f++)
			if (listeners[i].fd[f] >= 0)
				watch(EPOLL_CTL_MOD, listeners[i].fd[f], on ? EPOLLIN : 0, 1 + i * 2 + f);
}

static void drop(struct pair *p)
{
	for (int i = 0; i < 2; i++)
		if (p->side[i].fd >= 0)
			close(p->side[i].fd);
	if (!p->joined)
		waiting--;
	if (p->stage == PARKING) {
		parked--;
		park_after = now_ms() + PARK_PAUSE_MS;
	}
	unfinished -= p->again;
	p->used = p->again = 0;
	live--;
	accept_events(1);
}

static void side_init(struct side *s, int fd)
{
	s->fd = fd;
	s->eof = s->shut = 0;
	s->from = s->to = 0;
}

/* MOVED when all that was read from `s` is with `o`. */
static enum outcome hand_on(struct side *s, struct side *o)
{
	while (s->from < s->to) {
		ssize_t n = send(o->fd, s->bytes + s->from, s->to - s->from, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? STUCK : BROKEN;
		s->from += n;
	}
	return MOVED;
}

/* MOVED when bytes, or the end, were read; nothing read before may be left. */
static enum outcome take_in(struct side *s)
{
	ssize_t n;
	do
		n = recv(s->fd, s->bytes, BUFFER, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? STUCK : BROKEN;
	s->eof = n == 0;
	s->from = 0;
	s->to = n;
	return MOVED;
}

/* Moves what can be moved from one side to the other; MOVED when there may be more. */
static enum outcome pump(struct side *s, struct side *o)
{
	for (int turn = 0; turn < TURNS; turn++) {
		enum outcome how = hand_on(s, o);
		if (how == MOVED && s->eof) {
			if (!s->shut)
				shutdown(o->fd, SHUT_WR);
			s->shut = 1;
			return STUCK;
		}
		if (how == MOVED)
			how = take_in(s);
		if (how != MOVED)
			return how;
	}
	return MOVED;
}

static uint64_t data_of(const struct pair *p)
{
	return (uint64_t)p->serial << 32 | (PORTS * 2 + 1 + (p - pairs));
}

/* Begins to connect to the port on loopback, with the next family; 0 when there is none left. */
static int dial(struct pair *p)
{
	while (p->family != AF_INET6) {
		p->family = p->family == 0 ? AF_INET : AF_INET6;
		struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(p->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		struct sockaddr_in6 b = { .sin6_family = AF_INET6, .sin6_port = htons(p->port), .sin6_addr = IN6ADDR_LOOPBACK_INIT };
		int on = 1, fd = socket(p->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (fd < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		int failed = p->family == AF_INET ? connect(fd, (struct sockaddr *)&a, sizeof a) : connect(fd, (struct sockaddr *)&b, sizeof b);
		if ((failed < 0 && errno != EINPROGRESS) || watch(EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLET, data_of(p)) < 0) {
			close(fd);
			continue;
		}
		side_init(&p->side[0], fd);
		return 1;
	}
	return 0;
}

/* Tells the gateway what became of a dialed connection. */
static void answer(struct pair *p, char status)
{
	p->stage = OPEN;
	if (send(p->side[1].fd, &status, 1, MSG_NOSIGNAL) != 1 || status != 0)
		drop(p);
}

/* A connection from from= before it is joined: reads the port, then waits for the program that listens there. */
static void advance(struct pair *p)
{
	struct side *gateway = &p->side[1];
	if (p->stage == PARKING) {
		ssize_t n = recv(gateway->fd, gateway->bytes + gateway->to, 2 - gateway->to, 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			drop(p);
			return;
		}
		gateway->to += n;
		if (gateway->to < 2)
			return;
		p->port = (unsigned char)gateway->bytes[0] << 8 | (unsigned char)gateway->bytes[1];
		gateway->to = 0;
		parked--;
		p->stage = DIALING;
		p->family = 0;
		if (p->port == 0 || !dial(p)) {
			answer(p, 1);
			return;
		}
	}
	int why = 0;
	socklen_t size = sizeof why;
	struct pollfd ready = { .fd = p->side[0].fd, .events = POLLOUT };
	while (poll(&ready, 1, 0) > 0) {
		getsockopt(ready.fd, SOL_SOCKET, SO_ERROR, &why, &size);
		if (why == 0) {
			answer(p, 0);
			return;
		}
		close(ready.fd);
		p->side[0].fd = -1;
		if (!dial(p)) {
			answer(p, 1);
			return;
		}
		ready.fd = p->side[0].fd;
	}
	/* The gateway gave up while nothing answered. */
	ready = (struct pollfd){ .fd = gateway->fd, .events = 0 };
	if (poll(&ready, 1, 0) > 0 && ready.revents & (POLLHUP | POLLERR))
		drop(p);
}

/* Keeps PARKED connections to from= open. The gateway uses one for each port that it has to reach. */
static void park(void)
{
	while (parked < PARKED && now_ms() >= park_after) {
		int slot = 0;
		while (slot < PAIRS && pairs[slot].used)
			slot++;
		int fd = slot == PAIRS ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		struct pair *p = &pairs[slot];
		if (fd < 0 || connect(fd, (struct sockaddr *)&from, sizeof from) < 0) {
			if (fd >= 0)
				close(fd);
			park_after = now_ms() + (has_parked ? PARK_PAUSE_MS : RETRY_MS);
			return;
		}
		p->used = p->joined = 1;
		p->again = 0;
		p->serial++;
		p->stage = PARKING;
		side_init(&p->side[0], -1);
		side_init(&p->side[1], fd);
		live++;
		parked++;
		has_parked = 1;
		if (watch(EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLOUT | EPOLLET, data_of(p)) < 0)
			drop(p);
	}
}

static void serve(struct pair *p, unsigned events)
{
	if (!p->used || !p->joined)
		return;
	if (p->stage != OPEN) {
		advance(p);
		if (!p->used || p->stage != OPEN)
			return;
		events = 0;
	}
	struct side *a = &p->side[0], *b = &p->side[1];
	/* Towards the client first: what a gateway sent before it closed the connection still arrives. */
	enum outcome down = pump(b, a), up = down == BROKEN ? BROKEN : pump(a, b);
	if (up == BROKEN || down == BROKEN || (a->shut && b->shut) || (events & EPOLLERR)) {
		drop(p);
		return;
	}
	unfinished -= p->again;
	p->again = up == MOVED || down == MOVED;
	unfinished += p->again;
}

/* Connects to the unix socket; leaves the pair waiting when it has no server yet. */
static void join(struct pair *p)
{
	const struct listener *l = &listeners[p->port];
	int fd = socket(l->to.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* On loopback a connection is made or refused before connect() returns, unless the program is full. */
	if (fd < 0 || (connect(fd, &l->to.any, l->size) < 0 && errno != EINPROGRESS)) {
		int why = errno;
		if (fd >= 0)
			close(fd);
		int later = why == EAGAIN || why == ECONNREFUSED || why == ENOENT || why == EMFILE || why == ENFILE;
		if (!later || now_ms() - p->since > (has_joined ? WAIT_MS : START_WAIT_MS))
			drop(p);
		return;
	}
	p->joined = has_joined = 1;
	waiting--;
	side_init(&p->side[1], fd);
	/* Nothing of the client was read before. */
	p->side[0].to = strlen(l->hello);
	memcpy(p->side[0].bytes, l->hello, p->side[0].to);
	/* Edge-triggered: each event moves all that can be moved, so nothing is missed and no hang-up repeats. */
	for (int i = 0; i < 2; i++)
		if (watch(EPOLL_CTL_ADD, p->side[i].fd, EPOLLIN | EPOLLOUT | EPOLLET, data_of(p)) < 0) {
			drop(p);
			return;
		}
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
		/* Out of descriptors: a level-triggered listener would spin. The next connection that ends turns it on
		 * again; without open connections, sleep a little instead. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			/* Parked connections end with the gateway only. */
			if (live > parked)
				accept_events(0);
			else
				usleep(RETRY_MS * 1000);
		}
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	struct pair *p = &pairs[slot];
	p->used = 1;
	p->joined = p->again = 0;
	p->stage = OPEN;
	p->serial++;
	p->port = listener;
	p->since = now_ms();
	side_init(&p->side[0], fd);
	side_init(&p->side[1], -1);
	live++;
	waiting++;
	join(p);
}

static int listen_at(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	strcpy(a.sun_path, path);
	unlink(path);
	/* The directory decides who reaches it. */
	if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || chmod(path, 0666) < 0 || listen(fd, 1024) < 0) {
		close(fd);
		return -1;
	}
	return fd;
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

/* ADDRESS:PORT/NAME of another pod's gateway; 0 when it is not of that form. */
static int parse_gateway(struct listener *l, char *text)
{
	char *name = strchr(text, '/'), *port;
	if (!name || strlen(name + 1) < 1 || strlen(name + 1) > HELLO - 2)
		return 0;
	*name++ = 0;
	port = strrchr(text, ':');
	int number = port ? atoi(port + 1) : 0;
	if (number < 1 || number > 65535)
		return 0;
	*port = 0;
	snprintf(l->hello, sizeof l->hello, "%s\n", name);
	if (inet_pton(AF_INET, text, &l->to.port.sin_addr) == 1) {
		l->to.port.sin_family = AF_INET;
		l->to.port.sin_port = htons(number);
		l->size = sizeof l->to.port;
		return 1;
	}
	if (inet_pton(AF_INET6, text, &l->to.port6.sin6_addr) != 1)
		return 0;
	l->to.port6.sin6_family = AF_INET6;
	l->to.port6.sin6_port = htons(number);
	l->size = sizeof l->to.port6;
	return 1;
}

int main(int argc, char **argv)
{
	struct epoll_event events[64];
	struct rlimit files;
	/* First: nothing preloads a library into a static program. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "forwarder");
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (argc < 2 || argc - 2 > PORTS || epoll_fd < 0) {
		fprintf(stderr, "usage: forwarder PORT=SOCKET|PORT=tcp:ADDRESS:PORT/NAME|SOCKET=PORT|from=SOCKET|ready=FD...\n");
		return 2;
	}
	int ready = -1;
	for (int i = 1; i < argc; i++) {
		struct listener *l = &listeners[listener_count];
		char *path = strchr(argv[i], '=');
		if (strncmp(argv[i], "ready=", 6) == 0) {
			ready = atoi(path + 1);
			continue;
		}
		if (listener_count == PORTS) {
			fprintf(stderr, "forwarder: at most %d ports and sockets\n", PORTS);
			return 2;
		}
		if (strncmp(argv[i], "from=", 5) == 0 && strlen(path + 1) < sizeof from.sun_path) {
			from.sun_family = AF_UNIX;
			strcpy(from.sun_path, path + 1);
			continue;
		}
		int inward = argv[i][0] == '/';
		if (path)
			*path++ = 0;
		const char *place = inward ? argv[i] : path;
		int port = path ? atoi(inward ? path : argv[i]) : 0;
		int far = !inward && path && strncmp(path, "tcp:", 4) == 0;
		if (port < 1 || port > 65535 || (far ? !parse_gateway(l, path + 4) : strlen(place) >= sizeof l->to.local.sun_path)) {
			fprintf(stderr, "forwarder: bad port or socket: %s\n", argv[i]);
			return 2;
		}
		l->fd[1] = -1;
		if (inward) {
			l->to.port = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
			l->size = sizeof l->to.port;
			l->fd[0] = listen_at(place);
		} else {
			if (!far) {
				l->to.local.sun_family = AF_UNIX;
				strcpy(l->to.local.sun_path, place);
				l->size = sizeof l->to.local;
			}
			l->fd[0] = listen_on(AF_INET, port);
			l->fd[1] = listen_on(AF_INET6, port);
		}
		if (l->fd[0] < 0) {
			fprintf(stderr, "forwarder: %s: %s\n", argv[i], strerror(errno));
			return 1;
		}
		for (int f = 0; f < 2; f++)
			if (l->fd[f] >= 0 && watch(EPOLL_CTL_ADD, l->fd[f], EPOLLIN, 1 + listener_count * 2 + f) < 0)
				return 1;
		listener_count++;
	}
	if (ready >= 0)
		close(ready);
	for (;;) {
		if (from.sun_family != 0)
			park();
		int pause = waiting > 0 ? RETRY_MS : from.sun_family != 0 && parked < PARKED ? PARK_PAUSE_MS : -1;
		if (!has_parked && pause == PARK_PAUSE_MS)
			pause = RETRY_MS;
		int n = epoll_wait(epoll_fd, events, 64, unfinished > 0 ? 0 : pause);
		if (n < 0 && errno != EINTR)
			return 1;
		for (int i = 0; i < n; i++) {
			unsigned data = (unsigned)events[i].data.u64;
			if (data <= PORTS * 2)
				take((data - 1) / 2, (data - 1) % 2);
			else if (pairs[data - PORTS * 2 - 1].serial == events[i].data.u64 >> 32)
				serve(&pairs[data - PORTS * 2 - 1], events[i].events);
		}
		for (int i = 0; unfinished > 0 && i < PAIRS; i++)
			if (pairs[i].used && pairs[i].again)
				serve(&pairs[i], 0);
		for (int i = 0; waiting > 0 && i < PAIRS; i++)
			if (pairs[i].used && !pairs[i].joined)
				join(&pairs[i]);
	}
}
