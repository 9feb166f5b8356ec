import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../../src/core/host/package.ts';
import { DEFAULT_PRESETS, PRESETS } from '../../../src/network/gateway/rules/presets.ts';

const note = readFileSync(join(packageRoot, 'images/claude/root/etc/claude-code/CLAUDE.md'), 'utf8');

it('the note for the agent names registries of every preset that is open by default, and no closed host', () => {
  const named = (preset: string): boolean => (PRESETS[preset] ?? []).some((host) => note.includes(`\`${host}\``));
  expect(Object.keys(PRESETS).filter(named)).toEqual(DEFAULT_PRESETS);
});

it('the note for the agent names the tools that the image has', () => {
  const dockerfile = readFileSync(join(packageRoot, 'Dockerfile'), 'utf8');
  const packages = { fd: 'fd-find', rg: 'ripgrep', pip: 'python3-pip', xz: 'xz-utils' } as Record<string, string>;
  const ours = ['node', 'npm', 'npx'];
  const [, list = ''] = /The image has ([^.]+)\./.exec(note) ?? [];
  const tools = [...list.matchAll(/`([^`]+)`/g)].map(([, tool = '']) => tool);
  expect(tools.length).toBeGreaterThan(10);
  for (const tool of tools.filter((one) => !ours.includes(one)))
    expect(dockerfile, tool).toMatch(new RegExp(`[ \\n]${packages[tool] ?? tool}[ \\n\\\\]`));
});
