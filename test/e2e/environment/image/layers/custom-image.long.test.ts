import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { connectForTest } from '../../../../support/engine.ts';
import { runLabel, testImage } from '../../../../support/image.ts';
import { Scene } from '../../../../support/scene.ts';
import { startMessagesApi } from '../../../../support/stand-in/messages-api.mjs';

// A custom image whose own Node would read the credential, where the gateway ran on it.

const docker = (...words: string[]): string => execFileSync('docker', words, { encoding: 'utf8' });

it('only the agent runs on a custom image: the gateway and what reads the workspace run on run-claude’s own', async () => {
  const engine = await connectForTest();
  const ours = await testImage(engine);
  await engine.close();
  const standIn = await startMessagesApi({ turns: [{ text: 'It is over.' }] });
  await using scene = new Scene({ apiUrl: standIn.url, apiKey: 'sk-ant-REAL' });
  const custom = `run-claude-test-custom-${path.basename(scene.root).toLowerCase()}`;
  const context = path.join(scene.root, 'context');
  mkdirSync(context);
  writeFileSync(
    path.join(context, 'Dockerfile'),
    `FROM ${ours}\nUSER 0\nRUN echo theirs > /etc/theirs\nLABEL ${runLabel()}\n`,
  );
  const made: string[] = [custom];
  try {
    docker('build', '-q', '-t', custom, context);
    const since = String(Math.floor(Date.now() / 1000) - 1);
    const run = ['--image', custom, '--copy-workspace', '--auto-apply', scene.project];
    const result = await scene.run([...run, '-p', 'please say so']);
    expect(result.stdout, result.stderr).toContain('It is over.');
    const [session] = JSON.parse((await scene.run(['sessions', '--all', '--json'])).stdout) as { id: string }[];
    const filters = ['type=container', 'event=create', `label=run-claude.session=${session?.id}`];
    const until = String(Math.ceil(Date.now() / 1000));
    const format = '{{.Actor.Attributes.name}} {{.Actor.Attributes.image}}';
    const words = ['events', '--since', since, '--until', until, '--format', format];
    const lines = docker(...words, ...filters.flatMap((filter) => ['--filter', filter]))
      .trim()
      .split('\n');
    const images = new Map(
      lines.map((line) => line.replace(`run-claude-${session?.id}`, '').split(' ') as [string, string]),
    );
    const agent = images.get('') ?? images.get('-agent') ?? '';
    made.unshift(agent);
    expect(agent).not.toBe(ours);
    expect(docker('run', '--rm', '--entrypoint', '/bin/cat', agent, '/etc/theirs')).toBe('theirs\n');
    expect([...images].filter(([, image]) => image !== agent).map(([name]) => name)).toEqual(
      expect.arrayContaining(['-gateway', '-collector']),
    );
    for (const [name, image] of images) if (image !== agent) expect([name, image]).toEqual([name, ours]);
    expect([...images].filter(([, image]) => image === agent)).toHaveLength(1);
  } finally {
    await standIn.close();
    for (const image of made) if (image !== '') docker('image', 'rm', '-f', image);
  }
});
