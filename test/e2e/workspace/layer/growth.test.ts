import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Scene } from '../../../support/scene.ts';

const GB = 1024 ** 3;
const sh = (script: string, ...words: string[]): string =>
  execFileSync('sh', ['-euc', script, 'sh', ...words], { encoding: 'utf8' });

/** Keeps the scene's sessions on a disk of 3 GB; what is never written takes no room on this machine. */
function onOwnDisk(scene: Scene): { readonly at: string; free(): number } & AsyncDisposable {
  const at = path.join(scene.root, 'state');
  const image = path.join(scene.root, 'disk');
  mkdirSync(at, { recursive: true });
  sh('truncate -s 3G "$1"; mkfs.ext4 -q -m 0 "$1"; mount -o loop "$1" "$2"', image, at);
  return {
    at,
    free: () => statfsSync(at).bavail * statfsSync(at).bsize,
    async [Symbol.asyncDispose]() {
      await scene.run(['gc', '--yes']);
      // Of a test that failed: what still runs holds the disk.
      for (const id of readdirSync(path.join(at, 'run-claude/sessions'))) {
        const list = ['ps', '-aq', '--filter', `label=run-claude.session=${id}`];
        const left = execFileSync('docker', list, { encoding: 'utf8' }).split('\n').filter(Boolean);
        if (left.length > 0) execFileSync('docker', ['rm', '-f', ...left], { stdio: 'ignore' });
      }
      execFileSync('umount', ['-l', at]);
    },
  };
}

it('an agent that reaches its disk limit is paused with most of the reserve left, then continues or is stopped', async () => {
  await using scene = new Scene();
  await using disk = onOwnDisk(scene);
  const ballast = path.join(disk.at, 'ballast');
  const script = `echo ready; while read -r word size; do
    [ "$word" != more ] || { stty raw -echo; echo holds; until [ -e /tmp/go ]; do sleep 0.1; done; }
    [ -z "$size" ] || fallocate -l "$size" "$word"
    echo "got [$word]"
  done`;
  {
    await using pty = scene.pty(['exec', '--yes', '--disk', '64m', scene.project, '--', 'sh', '-c', script]);
    const agent = (): string =>
      execFileSync('docker', ['ps', '--filter', `volume=${volume()}`, '--format', '{{.Names}} {{.State}}'], {
        encoding: 'utf8',
      });
    const volume = (): string =>
      `run-claude-${execFileSync('ls', [path.join(disk.at, 'run-claude/sessions')], { encoding: 'utf8' }).trim()}-workspace`;
    const paused = async (why: RegExp, from: number): Promise<number> => {
      const seen = await pty.see(new RegExp(`The agent is paused: ${why.source}`), { from });
      await expect.poll(agent).toContain('paused');
      return seen;
    };
    let from = await pty.see(/ready/);
    expect(disk.free()).toBeGreaterThan(2 * GB);

    // Someone else takes the room, and gives it back.
    sh('fallocate -l "$1" "$2"', String(Math.round(disk.free() - 1.8 * GB)), ballast);
    from = await paused(/only 1\.8 GB of the disk are free/, from);
    rmSync(ballast);
    // The agent's own screen again.
    from = await pty.see(/\x1b\[\?1049l/, { from });
    pty.send('found\r');
    from = await pty.see(/got \[found\]/, { from });

    // The agent's own.
    pty.send('filler 100M\r');
    from = await paused(/it has written 100\.0 MB \(--disk allows 64\.0 MB\)/, from);
    expect(disk.free()).toBeGreaterThan(2 * GB);
    pty.send('lost\r');
    await sleep(700);
    // Pressed again where it came too soon after that.
    from = await pty.press('c', /\x1b\[\?1049l/, { from });
    // What has been typed since is deleted first.
    pty.send('\u0015again\r');
    from = await pty.see(/got \[again\]/, { from });

    // An answer is read behind what the agent does not read.
    pty.send('more 100M\r');
    from = await pty.see(/holds/, { from });
    pty.send('x'.repeat(1 << 22));
    execFileSync('docker', ['exec', volume().replace(/-workspace$/, ''), 'touch', '/tmp/go']);
    from = await paused(/it has written 0\.20 GB \(--disk allows 0\.13 GB\)/, from);
    await sleep(700);
    from = await pty.press('\u0003', /\x1b\[\?1049l/, { from });
    // Messages held while the agent had the screen are printed at its end, each with its time.
    for (const text of ['paused', 'continues', 'paused', 'continues, with twice the limit', 'paused'])
      from = await pty.see(new RegExp(`\\d\\d:\\d\\d:\\d\\d WARNING: The agent [^\\n]*${text}`), { from });
    from = await pty.see(/Stopping the agent: it has written 0\.20 GB/, { from });
    await pty.see(/\[y\/N\/d\/s\/l\/(?:r\/)?\?\]/, { from });
    pty.send('n\r');
    expect(await pty.exited).toBe(124);
    expect(pty.output).not.toContain('lost]');
  }
  expect((await scene.run(['diff', '--name-only'])).stdout).toBe('filler\nmore\n');
  // Files that are larger than the first limit are like any other.
  const applied = await scene.run(['apply', '--yes']);
  expect(applied.status, applied.stderr).toBe(0);
  expect(statSync(path.join(scene.project, 'filler')).size).toBe(100 * 1024 ** 2);
});
