import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const DIR = '.github/workflows';
const files = readdirSync(path.join(root, DIR)).map((name) => `${DIR}/${name}`);
const workflows = new Map(files.map((file) => [file, parse(read(file)) as Workflow]));
const jobs = [...workflows].flatMap(([file, { jobs: all }]) =>
  Object.entries(all).map(([name, job]) => [`${path.basename(file)}: ${name}`, job] as const),
);

/** What a job may do besides reading; every other one only reads. */
const MAY_WRITE: Readonly<Record<string, readonly string[]>> = {
  'codeql.yml: analyze': ['security-events'],
  'scorecard.yml: analyze': ['id-token', 'security-events'],
  'release.yml: draft': ['attestations', 'contents', 'id-token'],
  'release.yml: publish': ['id-token'],
};

describe('the workflows', () => {
  it('pin each action by its commit, with the release next to it, and the same one everywhere', () => {
    const lines = [...files, 'action.yml'].flatMap((file) => read(file).match(/uses: .*/g) ?? []);
    expect(lines.length).toBeGreaterThan(10);
    const pins = new Map<string, string>();
    for (const line of lines) {
      const [, action = '', pin = ''] = /^uses: ([\w./-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)$/.exec(line) ?? [];
      expect(action, line).not.toBe('');
      const name = action.split('/', 2).join('/');
      expect([name, pin]).toEqual([name, pins.get(name) ?? pin]);
      pins.set(name, pin);
    }
  });

  it('give no permission but those of the table', () => {
    for (const { permissions } of workflows.values()) {
      expect(permissions).toBeDefined();
      expect(Object.entries(permissions ?? {}).filter(([, level]) => level !== 'read')).toEqual([]);
    }
    const writing = jobs.map(([name, { permissions = {} }]) => {
      const rights = Object.entries(permissions).filter(([, level]) => level !== 'read');
      return [name, rights.map(([right]) => right).sort()] as const;
    });
    expect(Object.fromEntries(writing.filter(([, rights]) => rights.length > 0))).toEqual(MAY_WRITE);
  });

  it('run no code of the repository where a job may write or sign', () => {
    for (const [name, { steps }] of jobs.filter(([one]) => one.startsWith('release.yml') && one in MAY_WRITE)) {
      expect([name, steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))]).toEqual([name, []]);
    }
  });

  it.each(jobs)('%s: has a time limit, keeps no token, and needs jobs that exist', (name, job) => {
    expect(job['timeout-minutes']).toBeGreaterThan(0);
    for (const { uses, with: inputs } of job.steps) {
      if (uses?.startsWith('actions/checkout@')) expect(inputs).toMatchObject({ 'persist-credentials': false });
    }
    const all = Object.keys(workflows.get(`${DIR}/${name.split(':')[0]}`)?.jobs ?? {});
    expect(all).toEqual(expect.arrayContaining([job.needs ?? []].flat()));
  });

  it('have steps that the shell accepts, without an expression, and that name files and scripts that exist', () => {
    const scripts = Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts);
    const steps = jobs.flatMap(([name, job]) =>
      job.steps.flatMap(({ run }) => (run === undefined ? [] : [[name, run]])),
    );
    expect(steps.length).toBeGreaterThan(5);
    for (const [name = '', run = ''] of steps) {
      expect([name, run]).toEqual([name, expect.not.stringContaining('${{')]);
      const { stdout } = spawnSync('shellcheck', ['--shell=bash', '-'], { input: run, encoding: 'utf8' });
      expect([name, stdout]).toEqual([name, '']);
      for (const [, script = ''] of run.matchAll(/npm run (?:--\S+ )*([\w:]+)/g)) expect(scripts).toContain(script);
      for (const [file] of run.matchAll(/(?:scripts|\.ci)\/[\w./-]+/g))
        expect([file, existsSync(path.join(root, file))]).toEqual([file, true]);
    }
  });

  it('hand on only artifacts that a job of the same workflow made', () => {
    for (const { jobs: all } of workflows.values()) {
      const named = (action: string) =>
        Object.values(all).flatMap(({ steps }) =>
          steps.flatMap(({ uses, with: inputs }) => (uses?.startsWith(`actions/${action}@`) ? [inputs?.['name']] : [])),
        );
      expect(named('upload-artifact')).toEqual(expect.arrayContaining(named('download-artifact')));
    }
  });
});

it.each(['bug', 'finding', 'feature'])('the issue form %s has fields with names and labels', (name) => {
  const form = parse(read(`.github/ISSUE_TEMPLATE/${name}.yml`)) as {
    readonly body: readonly {
      readonly type: string;
      readonly id?: string;
      readonly attributes: { readonly label?: string };
    }[];
  };
  const fields = form.body.filter(({ type }) => type !== 'markdown');
  expect(new Set(fields.map(({ id }) => id)).size).toBe(fields.length);
  for (const { attributes } of fields) expect(attributes.label).toMatch(/\w/);
});

/** Runs the shell steps of the release in a copy of what they need, with stand-ins for what a runner has. */
function dryRun(tag: string) {
  const copy = mkdtempSync(path.join(tmpdir(), 'run-claude-release-'));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  for (const name of ['CHANGELOG.md', 'scripts']) {
    cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
  }
  const manifest = JSON.parse(read('package.json')) as { version: string };
  // The tests of a release run where the fields are filled.
  const url = 'https://github.com/OWNER/run-claude';
  const fields = { homepage: `${url}#readme`, repository: { url: `git+${url}.git` }, bugs: { url: `${url}/issues` } };
  writeFileSync(path.join(copy, 'package.json'), JSON.stringify({ ...manifest, ...fields }));
  const { version } = manifest;
  for (const dir of ['bin', 'dist', 'temp']) mkdirSync(path.join(copy, dir));
  writeFileSync(path.join(copy, 'dist/sbom.cdx.json'), '{}');
  const log = path.join(copy, 'log');
  const stand = (tool: string, lines: string): void => {
    writeFileSync(path.join(copy, 'bin', tool), `#!/bin/sh\necho "${tool} $*" >>'${log}'\n${lines}\n`);
    chmodSync(path.join(copy, 'bin', tool), 0o755);
  };
  // npm pack --silent --pack-destination DIR
  stand('npm', `if [ "$1" = pack ]; then echo packed >"$4/run-claude-${version}.tgz"; fi`);
  stand('sudo', '');
  stand('gh', '');
  const release = path.join(copy, 'temp/release');
  const env = {
    PATH: `${path.join(copy, 'bin')}:${path.dirname(process.execPath)}:/usr/bin:/bin`,
    GITHUB_REPOSITORY: 'someone/run-claude',
    RUNNER_TEMP: path.join(copy, 'temp'),
    TAG: tag,
  };
  let output = '';
  const run = (job: string): boolean =>
    (workflows.get(`${DIR}/release.yml`)?.jobs[job]?.steps ?? []).every((step) => {
      if (step.uses?.startsWith('actions/download-artifact@'))
        cpSync(release, path.join(copy, 'release'), { recursive: true });
      if (step.run === undefined) return true;
      const result = spawnSync('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', step.run], {
        cwd: copy,
        env,
        encoding: 'utf8',
      });
      output += result.stdout + result.stderr;
      return result.status === 0;
    });
  return { copy, version, release, run, output: () => output, calls: () => readFileSync(log, 'utf8') };
}

describe('the release of a tag, as far as it can run here', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };

  it('fills the repository, tests, packs, and drafts with the changes of the version', () => {
    const scene = dryRun(`v${version}`);
    expect([scene.run('build'), scene.output()]).toEqual([true, '']);
    const manifest = JSON.parse(readFileSync(path.join(scene.copy, 'package.json'), 'utf8')) as object;
    expect(manifest).toMatchObject({
      homepage: 'https://github.com/someone/run-claude#readme',
      repository: { url: 'git+https://github.com/someone/run-claude.git' },
      bugs: { url: 'https://github.com/someone/run-claude/issues' },
    });
    expect(scene.calls()).toMatch(/^sudo env PATH=\S+ CI=true bash \.ci\/run$/m);
    expect(readdirSync(scene.release).sort()).toEqual([
      'SHA256SUMS',
      'notes.md',
      `run-claude-${version}.tgz`,
      'sbom.cdx.json',
    ]);
    expect(readFileSync(path.join(scene.release, 'notes.md'), 'utf8')).toMatch(/^### /);
    expect(scene.run('draft')).toBe(true);
    expect(scene.calls()).toContain(
      `gh release create v${version} --draft --verify-tag --title run-claude v${version} --notes-file release/notes.md release/run-claude-${version}.tgz release/sbom.cdx.json release/SHA256SUMS\n`,
    );
    expect(scene.run('publish')).toBe(true);
    expect(scene.calls()).toContain(`npm publish ./release/run-claude-${version}.tgz --provenance --access public\n`);
  });

  it('ends before anything is packed where the tag is not the version', () => {
    const scene = dryRun('v9.9.9');
    expect(scene.run('build')).toBe(false);
    expect(scene.output()).toContain(`the tag is 'v9.9.9', and package.json has the version ${version}`);
    expect(existsSync(scene.release)).toBe(false);
  });
});
