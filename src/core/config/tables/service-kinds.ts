/** What a service of a Debian package needs, where its table does not say it. */
export interface ServiceKind {
  readonly command: string;
  readonly port: number;
  /** Undefined: its port accepts a connection. */
  readonly ready?: string;
}

/** The image's initialisation scripts expect root, so each database is initialised by its own program. */
const POSTGRES: ServiceKind = {
  command: [
    'PATH=$(echo /usr/lib/postgresql/*/bin):$PATH',
    'test -s /data/postgres/PG_VERSION || initdb -D /data/postgres -U postgres -A trust -E UTF8 --no-sync >/dev/null',
    'exec postgres -D /data/postgres -k /tmp -c listen_addresses=127.0.0.1 -c fsync=off -c full_page_writes=off',
  ].join('\n'),
  port: 5432,
  ready: '$(echo /usr/lib/postgresql/*/bin)/pg_isready -q -h 127.0.0.1 -U postgres',
};

const MARIADB: ServiceKind = {
  command: [
    'if test ! -d /data/mysql/mysql; then',
    '  mariadb-install-db --no-defaults --datadir=/data/mysql --auth-root-authentication-method=normal >/dev/null',
    'fi',
    'exec mariadbd --no-defaults --datadir=/data/mysql --socket=/tmp/mysql.sock --pid-file=/tmp/mysql.pid \\',
    '  --port=3306 --bind-address=127.0.0.1 --innodb-flush-log-at-trx-commit=0 --skip-name-resolve',
  ].join('\n'),
  port: 3306,
  ready: 'mariadb-admin --no-defaults -h 127.0.0.1 -u root ping',
};

const redisOf = (program: string): ServiceKind => ({
  command: `exec ${program}-server --port 6379 --bind 127.0.0.1 --dir /data --save '' --daemonize no`,
  port: 6379,
  ready: `${program}-cli -h 127.0.0.1 ping | grep -q PONG`,
});

/** By the name of the package. */
export const SERVICE_KINDS: Readonly<Record<string, ServiceKind>> = {
  postgresql: POSTGRES,
  'mariadb-server': MARIADB,
  'redis-server': redisOf('redis'),
  'valkey-server': redisOf('valkey'),
};
