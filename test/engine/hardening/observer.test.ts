import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/core/types/runtime.ts';
import { rehearsalSpec } from '../../../src/engines/engine/hardening/hardened.ts';
import { readSeccompProfile } from '../../../src/engines/engine/hardening/seccomp.ts';
import { connectForTest, runToEnd } from '../../support/engine.ts';
import { testImage } from '../../support/image.ts';

type Row = Readonly<Record<string, unknown>> & { readonly k: string };

let engine: Engine;

beforeAll(async () => {
  engine = await connectForTest();
});
afterAll(() => engine.close());

/** Runs commands under the observer, in the container of a rehearsal; the records of each by its name. */
async function observe(
  commands: Readonly<Record<string, string>>,
  limitsMs: Readonly<Record<string, number>> = {},
): Promise<Map<string, Row[]>> {
  const limit = (name: string) => String(limitsMs[name] ?? 10_000);
  const scenes = Object.entries(commands).flatMap(([name, command]) => [name, limit(name), '', '', command]);
  const spec = rehearsalSpec({
    sessionId: `test-${randomBytes(4).toString('hex')}`,
    suffix: 'observed',
    words: ['60000', ...scenes],
    image: await testImage(engine),
    seccomp: await readSeccompProfile(),
    user: '1000:1000',
    forwards: [],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/home/agent', LANG: 'C.UTF-8' },
    workdir: '/workspace',
    mounts: ['/workspace', '/home/agent'].map((target) => ({
      kind: 'tmpfs' as const,
      target,
      sizeMb: 64,
      mode: 0o755,
      noexec: false,
      uid: 1000,
      gid: 1000,
    })),
    limits: { memoryMb: 1024, cpus: 0, pids: 128, tmpMb: 64 },
  });
  const { said } = await runToEnd(await engine.create(spec));
  const found = new Map<string, Row[]>();
  let name = '';
  for (const line of said.trimEnd().split('\n')) {
    const row = JSON.parse(line) as Row;
    if (row.k === 'scene') name = String(row['name']);
    found.set(name, row.k === 'scene' ? [] : [...(found.get(name) ?? []), row]);
  }
  return found;
}

const python = (program: string) => `python3 -c '${program}'`;
const CALL = 'import ctypes,os; libc=ctypes.CDLL(None,use_errno=True); call=libc.syscall;';
const values = (rows: readonly Row[] | undefined, kind: string, key: string) =>
  (rows ?? []).filter(({ k }) => k === kind).map((row) => row[key]);
const tail = (rows: readonly Row[] | undefined) => String(rows?.findLast(({ k }) => k === 'end')?.['tail']);

it('records programs, files, names and addresses of a whole tree of processes', async () => {
  const found = await observe({
    tree: 'printf "#!/bin/sh\\ncat ~/.key\\n" > t.sh; chmod +x t.sh; echo x > ~/.key; echo key > "a\\"b"; sh -c "./t.sh; rm a*"',
    network: 'curl -s http://x.example/a; curl -s http://192.0.2.7:8080/',
    node: 'node -e "fetch(\\"http://y.example\\").then((got) => got.text()).then(console.log)"',
    memory: python(`${CALL}f=os.memfd_create("m"); os.write(f,open("/bin/true","rb").read()); os.execve(f,["x"],{})`),
    left: '(sleep 30; true) & true',
    without: 'true',
  });
  expect(values(found.get('tree'), 'runs', 'program')).toEqual(
    ['chmod', 'dash', 'dash', 'cat', 'rm'].map((name) => `/usr/bin/${name}`),
  );
  expect(values(found.get('tree'), 'exec', 'path')).toContain('/workspace/t.sh');
  expect(values(found.get('tree'), 'read', 'path')).toEqual(['/workspace/t.sh', '/home/agent/.key']);
  expect(values(found.get('tree'), 'write', 'path')).toContain('/workspace/a"b');
  expect(values(found.get('tree'), 'delete', 'path')).toEqual(['/workspace/a"b']);
  expect(values(found.get('network'), 'lookup', 'name')).toContain('x.example');
  expect(values(found.get('network'), 'connect', 'to')).toEqual(['198.18.0.1:80', '192.0.2.7:8080']);
  expect(tail(found.get('network'))).toBe('#!/bin/sh\n:\n#!/bin/sh\n:\n');
  expect(tail(found.get('node'))).toContain('#!/bin/sh');
  expect(values(found.get('memory'), 'runs', 'program')).toContain('/memfd:m (deleted)');
  expect(found.get('left')?.map(({ k }) => k)).toContain('left');
  expect(found.get('without')?.map(({ k }) => k)).toEqual(['end', 'done']);
});

/** Twenty datagrams by one call. */
const MESSAGES = `import ctypes,os,socket,struct
s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)
keep=[]; all=b""
for i in range(20):
  to=ctypes.create_string_buffer(struct.pack("=H",2)+struct.pack("!H",4000+i)+socket.inet_aton("192.0.2.9")+bytes(8),16)
  text=ctypes.create_string_buffer(b"x",1)
  part=(ctypes.c_ulonglong*2)(ctypes.addressof(text),1)
  keep+=[to,text,part]
  all+=struct.pack("QIxxxxQQQQixxxxIxxxx",ctypes.addressof(to),16,ctypes.addressof(part),1,0,0,0,0)
ctypes.CDLL(None).syscall(307 if os.uname()[4]=="x86_64" else 269,s.fileno(),ctypes.create_string_buffer(all,len(all)),20,0)`;

it('sees files, programs and addresses by whatever way a program gets to them', async () => {
  const KEY = 'mkdir -p ~/.ssh; echo k > ~/.ssh/key; cd ~/.ssh';
  const found = await observe({
    'a path by way of /proc': `${KEY}; cat /proc/./self/cwd/key`,
    'a link to a folder of /proc': `ln -s /proc/self/cwd /workspace/here; ${KEY}; cat /workspace/here/key`,
    'the folder of a thread': `${KEY}; cat /proc/thread-self/cwd/key`,
    'a folder from an open descriptor': `${KEY}; cd /; exec 5<~/.ssh; cat /dev/fd/5/key`,
    'another root': `${KEY}; cat //proc//self/root/home/agent/.ssh/../.ssh/key`,
    'a hard link': 'ln ~/.ssh/key ~/other; cat ~/other',
    posix_spawn: python('import os; os.waitpid(os.posix_spawn("/bin/cat",["cat","/home/agent/.ssh/key"],{}),0)'),
    vfork: python('import subprocess; subprocess.run(["cat","/home/agent/.ssh/key"], close_fds=False)'),
    'a deleted folder': `${KEY}; mkdir d; cd d; rmdir ../d; cat ../key`,
    'many arguments': `${KEY}; seq 1 20000 | xargs -n 20000 cat key 2> /dev/null`,
    messages: python(MESSAGES),
  });
  const { messages, 'a deleted folder': deleted, ...reads } = Object.fromEntries(found);
  const READS = Object.entries(reads).filter(([name]) => name !== '');
  for (const [name, rows] of READS) expect(values(rows, 'read', 'path'), name).toContain('/home/agent/.ssh/key');
  expect(READS).toHaveLength(9);
  // Which folder that is the kernel alone knows.
  expect(values(deleted, 'evaded', 'why')).toEqual(['unreadable']);
  expect(values(messages, 'connect', 'to')).toContain('192.0.2.9:4019');
});

describe('attacks on the observer from inside', () => {
  const evasions = async (...[commands, limitsMs]: Parameters<typeof observe>) => {
    const found = await observe({ ...commands, after: 'echo still here' }, limitsMs);
    // None of them ends the observer.
    expect(tail(found.get('after'))).toBe('still here\n');
    expect(found.get('after')?.at(-1)?.k).toBe('done');
    return found;
  };

  it('are recorded as evasions, and refused', async () => {
    const attacks: Readonly<Record<string, readonly [why: string, command: string]>> = {
      'becomes unreadable': ['unreadable', python(`${CALL}print(libc.prctl(4,0,0,0,0))`)],
      'runs an unreadable program': ['unreadable', 'cp /bin/true t; chmod 111 t; ./t'],
      'installs a filter': ['filter', python(`${CALL}print(libc.prctl(22,2,0,0,0))`)],
      'installs a filter by the newer call': [
        'filter',
        python(`${CALL}print(call(317 if os.uname()[4]=="x86_64" else 277,1,0,0))`),
      ],
      'kills its parents': ['signal', 'kill -9 $PPID; sh -c "kill -9 1"; echo on'],
      'kills everybody': ['signal', 'kill -9 -1; echo on'],
      'stops the observer': ['signal', 'kill -STOP $PPID'],
      'opens a handle of the observer': ['signal', python('import os; os.pidfd_open(os.getppid())')],
      'has the kernel signal the observer': [
        'signal',
        python('import fcntl,os; fcntl.fcntl(0,fcntl.F_SETOWN,os.getppid())'),
      ],
      'takes the descriptors of the observer': [
        'signal',
        python('import os,resource; resource.prlimit(os.getppid(),resource.RLIMIT_NOFILE,(0,0))'),
      ],
      'starts a 32-bit program': ['32-bit', 'printf "\\177ELF\\001\\001\\001" > e; chmod +x e; ./e'],
    };
    const found = await evasions(Object.fromEntries(Object.entries(attacks).map(([name, [, line]]) => [name, line])));
    for (const [name, [why]] of Object.entries(attacks))
      expect(values(found.get(name), 'evaded', 'why'), name).toContain(why);
  });

  it('get nowhere where the container refuses the call itself', async () => {
    const found = await evasions({
      ring: python(`${CALL}print(call(425,8,0),ctypes.get_errno())`),
      trace: python(`${CALL}print(libc.ptrace(16,os.getppid(),0,0),ctypes.get_errno())`),
      memory: 'cat /proc/$PPID/mem /proc/$PPID/environ; echo lies > /proc/$PPID/fd/1; echo lies > /proc/1/fd/1',
      sign: 'rmdir /etc/run-claude/observed; mv /etc/run-claude /etc/x; mkdir /etc/run-claude/o',
    });
    expect(tail(found.get('ring'))).toBe('-1 1\n');
    expect(tail(found.get('trace'))).toBe('-1 1\n');
    expect(tail(found.get('memory')).match(/denied/g)).toHaveLength(4);
    expect(tail(found.get('sign'))).not.toBe('');
  });

  it('end as broken where they go on without end', async () => {
    const found = await evasions(
      {
        flood: python('for i in range(10**7): open("/workspace/%d" % (i % 9),"w").close()'),
        storm: 'f() { f | f & }; f; sleep 60',
        sleep: 'trap "" TERM INT; sleep 60',
      },
      { flood: 30_000, storm: 2000, sleep: 1000 },
    );
    expect(values(found.get('flood'), 'broken', 'why')).toEqual(['flood']);
    expect(values(found.get('storm'), 'broken', 'why')).toHaveLength(1);
    expect(values(found.get('sleep'), 'broken', 'why')).toEqual(['time']);
  });
});
