import { expect, it } from 'vitest';
import { leftOnEngine, sceneWithServices } from '../../../support/service-scene.ts';

// Real databases from Debian packages, used by their own clients.
const CONFIG = `
[environment]
packages = ["mariadb-client", "postgresql-client", "redis-tools"]

[[service]]
name = "db"
packages = ["postgresql"]
seed = """
createdb -h 127.0.0.1 -U postgres app
psql -h 127.0.0.1 -U postgres -f /seed/schema.sql app
"""
files = ["schema.sql"]

[[service]]
name = "maria"
packages = ["mariadb-server"]

[[service]]
name = "cache"
packages = ["redis-server"]
`;
const SCRIPT = `
psql -h db -U postgres -qAtc 'insert into t values (2); select sum(n) from t' app
psql -h 127.0.0.1 -U postgres -Atc 'show server_version_num' app | cut -c1-2
mariadb -h maria -u root -e 'create database a; create table a.t (n int) engine=InnoDB; insert into a.t values (7)'
mariadb -h 127.0.0.1 -u root -Ne 'select n, @@hostname from a.t'
redis-cli -h cache set k from-redis
redis-cli -h 127.0.0.1 get k
`;

it('Postgres, MariaDB and Redis from Debian packages run next to the agent', async () => {
  await using scene = sceneWithServices(CONFIG);
  scene.write('schema.sql', 'create table t (n int); insert into t values (40);\n');
  for (const round of ['first', 'again']) {
    const ran = await scene.run(['exec', '--', 'bash', '-c', SCRIPT]);
    expect(ran.stdout.split('\n'), ran.stderr).toEqual(['42', '15', '7\tsandbox', 'OK', 'from-redis', '']);
    expect(ran.stderr.includes('Running the seed')).toBe(round === 'first');
    expect(leftOnEngine(scene)).toEqual([]);
  }
  const log = await scene.run(['log', '--service', 'db']);
  expect(log.stdout).toContain('database system is ready to accept connections');
});
