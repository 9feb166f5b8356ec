import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Scene, type SceneOptions } from './scene.ts';

/** A scene whose user has these services in config.toml. */
export function sceneWithServices(config: string, options: SceneOptions = {}): Scene {
  const scene = new Scene(options);
  mkdirSync(path.join(scene.root, 'config/run-claude'), { recursive: true });
  configure(scene, config);
  return scene;
}

export function configure(scene: Scene, config: string): void {
  writeFileSync(path.join(scene.root, 'config/run-claude/config.toml'), config);
}

/** The table of a service that is a program of Node: the image of every session has it. */
export function nodeService(name: string, port: number, program: string, more = ''): string {
  return `[[service]]\nname = "${name}"\nport = ${port}\ncommand = ["node", "-e", ${JSON.stringify(program)}]\n${more}\n`;
}

/** Answers each request with what `answer` gives; `r` is the request. */
export const httpServer = (port: number, answer: string): string =>
  `require('http').createServer((r,a)=>{Promise.resolve((()=>${answer})()).then(t=>a.end(String(t)))})` +
  `.listen(${port},'127.0.0.1',()=>console.log('listening on ${port}'))`;

/** Names of the engine's containers and volumes that sessions of the scene left. */
export function leftOnEngine(scene: Scene): string[] {
  const ids = readdirSync(path.join(scene.places().stateDir, 'sessions'));
  const docker = (...args: string[]): string[] => execFileSync('docker', args, { encoding: 'utf8' }).split('\n');
  const all = [...docker('ps', '-a', '--format', '{{.Names}}'), ...docker('volume', 'ls', '-q')];
  return all.filter((name) => ids.some((id) => name.startsWith(`run-claude-${id}`) && name.includes('companion')));
}
