import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentOption } from '../../../../src/agents/agent.ts';
import { CLAUDE_OPTIONS } from '../../../../src/agents/claude/command-line/options.ts';
import { packageRoot } from '../../../../src/core/host/package.ts';
import type { Engine } from '../../../../src/core/types/runtime.ts';
import { readImageFiles } from '../../../../src/environment/image/files.ts';
import { readPins } from '../../../../src/environment/image/pins/pins.ts';
import { KNOWN_TERMINALS } from '../../../../src/terminal/attach/terminal-type.ts';
import { connectForTest, smallContainer } from '../../../support/engine.ts';
import { testImage } from '../../../support/image.ts';
import { requestEngine } from '../../../support/raw-engine.ts';

let engine: Engine;
let image: string;

beforeAll(async () => {
  engine = await connectForTest();
  image = await testImage(engine);
});
afterAll(() => engine.close());

/** As in a session: the image's own variables do not go in. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Runs a script in the image as the agent's user, without network, with a read-only root. */
async function inside(script: string, user = '1000:1000'): Promise<string> {
  const name = `run-claude-test-${randomBytes(4).toString('hex')}`;
  const spec = smallContainer(name, image, ['bash', '-c', script]);
  const container = await engine.create({
    ...spec,
    user,
    env: { PATH },
    limits: { ...spec.limits, memoryMb: 2048, pids: 256 },
  });
  try {
    const output = text(container.stdout);
    await container.start();
    await container.wait();
    return await output;
  } finally {
    await container.remove();
  }
}

describe('the image', () => {
  it('has the pinned Claude Code, Node 22, and the usual tools', async () => {
    const { claudeVersion } = readPins(readImageFiles(packageRoot));
    const tools =
      'git git-lfs rg fd jq less curl ssh python3 pip3 node npm npx make patch tree file zip unzip xz tmux sqlite3 vim.tiny nano ps';
    const output = await inside(
      `claude --version; node --version; npm --version; for t in ${tools}; do command -v $t >/dev/null || echo missing $t; done`,
    );
    const [claude, node, npm, ...missing] = output.trim().split('\n');
    expect(claude).toContain(claudeVersion);
    expect(node).toMatch(/^v22\./);
    expect(npm).toMatch(/^11\./);
    expect(missing).toEqual([]);
  });
  it('has the licence of each package, and no manuals, translations or headers', async () => {
    const unread =
      'find /usr/share/man /usr/share/info /usr/share/locale /opt/node/package/include ! -type d 2>/dev/null';
    const licences =
      'find /usr/share/doc -name copyright | wc -l; dpkg-query -W -f "x\\n" | wc -l; ls /opt/node/package/LICENSE';
    const [copyrights, packages, node, ...files] = (await inside(`${licences}; ${unread}`)).trim().split('\n');
    expect(Number(packages)).toBeGreaterThan(150);
    expect(Number(copyrights)).toBeGreaterThan(Number(packages) * 0.9);
    expect(node).toBe('/opt/node/package/LICENSE');
    expect(files).toEqual([]);
  });

  it('has every terminal that the plan may name in TERM, and no other', async () => {
    const output = await inside('find /lib/terminfo /usr/share/terminfo /etc/terminfo ! -type d ! -name README');
    const names = output
      .trim()
      .split('\n')
      .map((file) => file.split('/').at(-1));
    expect(names.toSorted()).toEqual([...KNOWN_TERMINALS].toSorted());
  });

  it('has a Claude Code with exactly the options that the command line knows', async () => {
    const help = await inside('claude --help');
    const arityOf = (value: string): AgentOption['arity'] =>
      value === '' ? 'none' : value.startsWith('[') ? 'optional' : value.endsWith('...>') ? 'many' : 'one';
    const named = [...help.matchAll(/^ {2}(-[\w-]+(?:, -[\w-]+)*)(?: ([<[][^>\]]+[>\]]))?/gm)];
    // Its help names the value of --tmux in the text.
    const messages = named.flatMap(([, names = '', value = '']) =>
      names.split(', ').map((name) => [name, name === '--tmux' ? 'optional' : arityOf(value)]),
    );
    expect(messages.length).toBeGreaterThan(60);
    expect(messages.filter(([name = '', arity]) => CLAUDE_OPTIONS.get(name) !== arity)).toEqual([]);
  });

  it('lacks setuid bits, compilers and the tools of the namespace', async () => {
    const absent = 'gcc cc clang nsenter unshare chroot mount umount su sudo newgrp passwd pivot_root setpriv docker';
    const output = await inside(
      `find / -xdev -perm /6000 2>/dev/null; for t in ${absent}; do PATH=$PATH:/sbin:/usr/sbin command -v $t; done; true`,
      '0:0',
    );
    expect(output).toBe('');
  });

  it('runs as agent, whose home and workspace exist', async () => {
    expect(await inside('id -un; echo ~agent; stat -c "%n %U" /workspace /home/agent')).toBe(
      'agent\n/home/agent\n/workspace agent\n/home/agent agent\n',
    );
  });

  it('has run-claude’s programs, statically linked, and a git that runs no program of a repository', async () => {
    const output = await inside(
      'ls /usr/lib/run-claude; cd /tmp && git init -q r && cd r && printf "#!/bin/sh\\necho ran >&2\\n" > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && export HOME=/tmp && git -c user.name=a -c user.email=a@b commit --allow-empty -m x 2>&1 | grep -c ran; git config --system core.checkStat',
    );
    expect(output).toMatch(/^collector\n/m);
    expect(output).toMatch(/^init\n/m);
    expect(output).toMatch(/^0\nminimal\n$/m);
  });

  it('trusts this machine’s certificates, and has no secret in its history', async () => {
    const record = await inside('cat /etc/ssl/certs/ca-certificates.crt | grep -c BEGIN');
    expect(Number(record)).toBeGreaterThan(100);
    expect(await engine.images.label(image, 'run-claude.image')).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('is labelled from its first step, so that gc finds a build that stopped anywhere', async () => {
    const labels: (string | undefined)[] = [];
    for (let at = image; at !== ''; ) {
      const found = await requestEngine<{ Parent: string; Config: { Labels: Record<string, string> | null } }>(
        'GET',
        `/images/${at}/json`,
      );
      // The base is older than the image.
      if (found.Parent === '') break;
      labels.push(found.Config.Labels?.['run-claude.image']);
      at = found.Parent;
    }
    // The last step, and the one that adds the labels of the build's inputs.
    expect(labels.slice(0, 3)).toEqual([expect.stringMatching(/^\d/), labels[0], 'stage']);
    expect(new Set(labels.slice(2))).toEqual(new Set(['stage']));
  });
});
