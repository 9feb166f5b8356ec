import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { configure, httpServer, leftOnEngine, nodeService, sceneWithServices } from '../../../support/service-scene.ts';

/** Counts its requests in its data, and asks the service that it reaches. */
const COUNTER = `const fs=require('fs');${httpServer(
  8080,
  "{fs.appendFileSync('/data/n','x');return fetch('http://store:7000').then(x=>x.text()).then(t=>fs.readFileSync('/data/n','utf8')+' '+t)}",
)}`;
const STORE = `console.log('\\u001b[2J\\u001b]0;owned\\u0007'+process.env.WORD);${httpServer(7000, 'process.env.WORD')}`;
const CONFIG =
  nodeService('counter', 8080, COUNTER, 'reaches = ["store"]') +
  nodeService('store', 7000, STORE, 'env = { WORD = "from-store" }');

it('runs services next to the agent, at 127.0.0.1 and by name, with new data in each session and a log', async () => {
  await using scene = sceneWithServices(CONFIG);
  const script = [
    'curl -sS http://127.0.0.1:8080; echo; curl -sS http://counter:8080; echo',
    'cat ~/.claude/CLAUDE.md',
  ].join('; ');
  const first = await scene.run(['exec', '--', 'bash', '-c', script]);
  expect(first.stderr).toContain('service     counter at 127.0.0.1:8080');
  expect(first.stderr).toContain('Starting services: store, counter...');
  expect(first.stdout.split('\n').slice(0, 2)).toEqual(['x from-store', 'xx from-store']);
  expect(first.stdout).toContain('`counter`, at `127.0.0.1:8080` and `counter:8080`');
  expect(leftOnEngine(scene)).toEqual([]);
  const second = await scene.run(['exec', '--network', 'none', '--', 'curl', '-sS', 'http://counter:8080']);
  expect(second.stdout).toBe('x from-store');

  const logs = await scene.run(['log', '--list', '--json']);
  expect(JSON.parse(logs.stdout)).toMatchObject([{ service: 'counter' }, { service: 'store' }]);
  const log = await scene.run(['log', '--service', 'store']);
  expect(log.stdout).toBe('\\x1b[2J\\x1b]0;owned\\x07from-store\nlistening on 7000\n');
  const unknown = await scene.run(['log', '--service', '../../x']);
  expect(unknown).toMatchObject({ status: 2, stdout: '' });
  const plan = await scene.run(['exec', '--dry-run', '--', 'true']);
  expect(plan.stdout).toMatch(/--forward 8080=\S+service\.counter/);
  const refused = await scene.run(['exec', '--dry-run=oci', '--', 'true']);
  expect(refused).toMatchObject({
    stdout: '',
    stderr: expect.stringContaining('services: the services are not started'),
  });
  const rendered = await scene.run(['exec', '--dry-run=oci', '--without-layer', 'services', '--', 'true']);
  expect(rendered.stdout, rendered.stderr).toContain('"ociVersion"');
  expect(rendered.stdout).not.toMatch(/peers|8080=/);
});

it('does not start a session whose service ends, is never ready or cannot be had; its last lines are shown', async () => {
  const printing = "console.log('\\u001b[31mcannot open its file');";
  await using scene = sceneWithServices('');
  // Its log is not what `log` means later, though it did not fail.
  expect((await scene.run(['exec', '--', 'true'])).status).toBe(0);
  configure(scene, nodeService('broken', 8080, `${printing}process.exit(3)`));
  const start = (): ReturnType<typeof scene.run> => scene.run(['exec', '--', 'touch', 'ran']);
  const broken = await start();
  expect(broken.status).toBe(125);
  expect(broken.stderr).toContain('the service broken ended with status 3:');
  expect(broken.stderr).not.toContain('goes on without it');
  expect(broken.stderr).toContain('\\x1b[31mcannot open its file');
  expect(broken.stderr).not.toContain('\u001b');
  expect(broken.stderr).not.toContain('the session goes on');
  expect(leftOnEngine(scene)).toEqual([]);
  expect((await scene.run(['log', '--service', 'broken'])).stdout).toContain('cannot open its file');

  configure(scene, nodeService('slow', 8080, httpServer(8080, '1'), 'ready = "test -e /ready"\nready-timeout = "2s"'));
  const slow = await start();
  expect(slow.status).toBe(125);
  expect(slow.stderr).toMatch(/the service slow is not ready after 2s:\n.*listening on 8080/);
  expect(leftOnEngine(scene)).toEqual([]);
  const sessions = JSON.parse((await scene.run(['sessions', '--json'])).stdout) as { stage: string }[];
  expect(sessions.map(({ stage }) => stage)).toEqual(['failed', 'failed', 'applied']);

  configure(scene, '[[service]]\nname = "a"\nimage = "no-such-image:1"\ncommand = "x"\nport = 80\n');
  expect(await start()).toMatchObject({ status: 125, stderr: expect.stringContaining('no image no-such-image:1') });
  configure(scene, nodeService('a', 8080, 'x') + nodeService('b', 8080, 'x'));
  expect(await start()).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('two services have the port 8080'),
  });
  configure(scene, nodeService('a', 8080, 'x'));
  const taken = await scene.run(['exec', '--allow-local', '8080:other', '--', 'true']);
  expect(taken).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('the service a and --allow-local have the same port 8080'),
  });
  expect(() => readFileSync(path.join(scene.project, 'ran'))).toThrow('ENOENT');
});

it('takes a service of a project only once the user agreed to every value of it', async () => {
  await using scene = sceneWithServices('');
  scene.write('.run-claude.toml', nodeService('web', 8080, httpServer(8080, '"asked"')));
  const get = ['--', 'curl', '-sS', 'http://web:8080'];
  const refused = await scene.run(['exec', '--yes', ...get]);
  expect(refused.status).toBe(2);
  expect(refused.stderr).toMatch(/service +web, at port 8080; its data in \/data/);
  const digest = /--approve ([0-9a-f]{32})/.exec(refused.stderr)?.[1] ?? '';
  const approved = await scene.run(['exec', '--approve', digest, ...get]);
  expect(approved.stdout, approved.stderr).toBe('asked');
  scene.write('.run-claude.toml', nodeService('web', 8080, httpServer(8080, '"changed"')));
  expect((await scene.run(['exec', '--approve', digest, ...get])).status).toBe(2);
});
