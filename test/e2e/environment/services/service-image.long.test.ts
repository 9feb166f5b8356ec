import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ownBase } from '../../../../src/environment/image/base.ts';
import { readImageFiles } from '../../../../src/environment/image/files.ts';
import { addressCustomImage } from '../../../../src/environment/image/layers/custom-image.ts';
import { readPins } from '../../../../src/environment/image/pins/pins.ts';
import { customImages } from '../../../support/custom-images.ts';
import { packageRoot } from '../../../support/scene.ts';
import { configure, leftOnEngine, sceneWithServices } from '../../../support/service-scene.ts';

// Services on an image that the user built or pulled. Such an image may be hostile.

const docker = (...words: string[]): string => execFileSync('docker', words, { encoding: 'utf8' });
const images = customImages('service');

/** Builds an image of the test's own, and notes what run-claude lays over it. */
async function build(dockerfile: string, programs: Readonly<Record<string, string>>): Promise<string> {
  const name = await images.build(dockerfile, programs);
  images.removeLater(await addressCustomImage(images.engine, name, images.ours));
  return name;
}

/** Volumes without a name: those of VOLUME instructions. */
const namelessVolumes = (): string[] =>
  docker('volume', 'ls', '-q')
    .split('\n')
    .filter((name) => /^[0-9a-f]{64}$/.test(name));

/** As the image `postgres` of Docker's library: Debian, with declarations that a session cannot use. */
const POSTGRES = `RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql
ENV PGDATA=/var/lib/postgresql/data PATH=/usr/lib/postgresql/15/bin:/usr/bin:/bin
RUN mkdir -p /var/lib/postgresql/data && chown postgres /var/lib/postgresql/data
COPY docker-entrypoint.sh /usr/local/bin/
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
EXPOSE 5432
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
`;
const POSTGRES_TABLE = (image: string): string => `
[[service]]
name = "db"
image = "${image}"
command = """
export PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
test -s $PGDATA/PG_VERSION || initdb -U postgres -A trust >/dev/null
exec postgres -k /tmp -c listen_addresses=127.0.0.1
"""
env = { PGDATA = "/var/lib/postgresql/data/db" }
data = "/var/lib/postgresql/data"
port = 5432
ready = "$(echo /usr/lib/postgresql/*/bin)/pg_isready -q -h 127.0.0.1"
seed = "psql -h 127.0.0.1 -U postgres -c 'create table t as select 40 as n'"
`;
/** The agent has no client: the first bytes of the protocol, and the server's answer to them. */
const ASK = `python3 - <<'END'
import socket, struct
s = socket.create_connection(("db", 5432))
def send(kind, body): s.sendall(kind + struct.pack("!i", len(body) + 4) + body)
send(b"", struct.pack("!i", 196608) + b"user\\0postgres\\0\\0")
send(b"Q", b"insert into t values (2)\\0")
send(b"Q", b"select 'sum=' || sum(n), version() from t\\0")
got = b""
while b"sum=" not in got: got += s.recv(65536)
print(got[got.index(b"sum="):][:6].decode(), b"PostgreSQL" in got)
END`;

it('a database on an image of the user’s own, which declares a volume and an entry point, serves the agent', async () => {
  await using scene = sceneWithServices('');
  const base = ownBase(images.engine, readPins(readImageFiles(packageRoot)));
  const from = (await images.engine.images.has(base)) ? base : 'debian:bookworm-slim';
  const entry = '#!/bin/bash\necho the entry point ran\nexec "$@"\n';
  const image = await build(`FROM ${from}\n${POSTGRES}`, { 'docker-entrypoint.sh': entry });
  configure(scene, POSTGRES_TABLE(image));
  const nameless = namelessVolumes();
  for (const round of ['first', 'again']) {
    const ran = await scene.run(['exec', '--', 'bash', '-c', ASK]);
    expect(ran.stdout, ran.stderr).toBe('sum=42 True\n');
    expect(ran.stderr.includes('Running the seed')).toBe(round === 'first');
    expect(leftOnEngine(scene)).toEqual([]);
  }
  expect(namelessVolumes()).toEqual(nameless);
  const log = await scene.run(['log', '--service', 'db']);
  expect(log.stdout).toContain('database system is ready');
  expect(log.stdout).not.toContain('the entry point ran');
});

/** What the image tries as soon as one of its programs runs; the answer has one line for each attempt. */
const ATTACK = `#!/bin/bash
attempts() {
  echo "entry point $(test -e /tmp/entered && echo ran || echo did not run)"
  echo "uid $(id -u)"
  echo "setuid program $(/usr/local/bin/rooted -p -c 'id -u')"
  echo "capabilities $(grep CapEff /proc/self/status | cut -f2)"
  echo "volume $(touch /var/lib/theirs/x 2>/dev/null && echo written || echo refused)"
  echo "volume over run-claude $(touch /run/run-claude/x 2>/dev/null && echo written || echo refused)"
  echo "image's variable $THEIRS"
  echo "files $(cat /var/lib/theirs/file)"
  local reached=0
  for socket in $(find / -xdev -name '*.sock' -not -path '/run/run-claude/gw/*' 2>/dev/null) /run/run-claude/peers/*/*; do
    [ "$(curl -s -m 3 --unix-socket "$socket" http://x/ 2>/dev/null)" = reached ] && reached=$((reached + 1))
  done
  echo "sockets of others $reached"
}
if [ "$1" = serve ]; then
  attempts >/tmp/result
  cd /tmp && exec python3 -m http.server --bind 127.0.0.1 8080
fi
touch /tmp/entered
exec /attack.sh serve
`;
const HOSTILE = `USER 0
COPY attack.sh /attack.sh
RUN cp /bin/bash /usr/local/bin/rooted && chmod 6755 /usr/local/bin/rooted \\
 && mkdir -p /var/lib/theirs && echo theirs >/var/lib/theirs/file && chmod 777 /var/lib/theirs
ENV THEIRS=set
SHELL ["/attack.sh"]
VOLUME ["/var/lib/theirs", "/run/run-claude"]
EXPOSE 8080 22/tcp
HEALTHCHECK --interval=1s CMD touch /tmp/healthy
USER root
WORKDIR /var/lib/theirs
ENTRYPOINT ["/attack.sh"]
`;

it('a hostile image gets nothing by its user, entry point, volumes, health check and setuid programs', async () => {
  await using scene = sceneWithServices('');
  const image = await build(`FROM ${images.ours}\n${HOSTILE}`, { 'attack.sh': ATTACK });
  configure(
    scene,
    `[[service]]\nname = "evil"\nimage = "${image}"\ncommand = ["/attack.sh", "serve"]\nport = 8080\nready-timeout = "1m"\n`,
  );
  const nameless = namelessVolumes();
  const result = await scene.run([
    'exec',
    '--',
    'bash',
    '-c',
    'sleep 3; curl -sS http://evil:8080/result http://evil:8080/',
  ]);
  expect(result.stdout).not.toContain('healthy');
  expect(result.stdout.split('\n').slice(0, 9), result.stderr).toEqual([
    'entry point did not run',
    'uid 61000',
    'setuid program 61000',
    'capabilities 0000000000000000',
    'volume refused',
    'volume over run-claude refused',
    "image's variable ",
    'files theirs',
    'sockets of others 0',
  ]);
  expect(leftOnEngine(scene)).toEqual([]);
  expect(namelessVolumes()).toEqual(nameless);

  // Each attempt succeeds where the engine starts the image as it is, next to a socket of another program.
  const sockets = path.join(scene.root, 'sockets');
  mkdirSync(sockets);
  const victim = createServer((_, answer) => answer.end('reached')).listen(path.join(sockets, 'agent.sock'));
  const id = docker('run', '-d', '-v', `${sockets}:/run/run-claude/peers/agent`, image).trim();
  try {
    // Not synchronously: the victim is in this process.
    const read = async (): Promise<string[]> => {
      const words = ['exec', id, 'sh', '-c', 'cat /tmp/result; test -e /tmp/healthy && echo healthy'];
      return (await promisify(execFile)('docker', words)).stdout.split('\n');
    };
    await expect.poll(async () => (await read()).at(-2)).toBe('healthy');
    await expect.poll(async () => (await read()).length).toBe(11);
    expect(await read()).toEqual([
      'entry point ran',
      'uid 0',
      'setuid program 0',
      expect.not.stringContaining('0000000000000000'),
      'volume written',
      'volume over run-claude written',
      "image's variable set",
      'files theirs',
      'sockets of others 1',
      'healthy',
      '',
    ]);
  } finally {
    docker('rm', '--force', '--volumes', id);
    victim.close();
  }
});

it('the home of a user 1000 outside /home stays: it may be the directory of the server', async () => {
  await using scene = sceneWithServices('');
  const server = "require('http').createServer((r,a)=>a.end('kept')).listen(8080,'127.0.0.1')";
  const image = await build(
    `FROM ${images.ours}\nUSER 0\nRUN userdel -r agent; mkdir /usr/share/server && useradd -u 1000 -d /usr/share/server server\nCOPY server.js /usr/share/server/\n`,
    { 'server.js': server },
  );
  configure(
    scene,
    `[[service]]\nname = "search"\nimage = "${image}"\ncommand = "exec node /usr/share/server/server.js"\nport = 8080\n`,
  );
  const result = await scene.run(['exec', '--', 'curl', '-sS', 'http://search:8080']);
  expect(result.stdout, result.stderr).toBe('kept');
});
