import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLAUDE_OPTIONS } from '../../../../src/agents/claude/command-line/options.ts';
import { COMMANDS } from '../../../../src/cli/grammar/commands.ts';
import { RUN_OPTIONS } from '../../../../src/cli/grammar/options.ts';
import { type CommandLine, parseCommandLine, type RunLine } from '../../../../src/cli/grammar/parse-command-line.ts';
import { RunClaudeError } from '../../../../src/core/errors.ts';

const FOLDERS = ['.', 'proj', 'my proj', 'build', './build', 'fix bug'];
const parse = (...argv: string[]): CommandLine => parseCommandLine(argv, (word) => FOLDERS.includes(word));
const run = (...argv: string[]): RunLine => {
  const line = parse(...argv);
  if (line.kind !== 'run') throw new Error(`not a session: ${line.kind}`);
  return line;
};
const refusal = (...argv: string[]): string => {
  try {
    parse(...argv);
  } catch (error) {
    if (error instanceof RunClaudeError && error.status === 2) return `${error.message} ${error.hint ?? ''}`;
    throw error;
  }
  throw new Error(`accepted: ${argv.join(' ')}`);
};
const mode = (line: RunLine): unknown => line.flags.find((flag) => flag.setting === 'mode')?.value;
const args = (line: RunLine): readonly string[] =>
  line.program.kind === 'kept' ? [] : line.program.kind === 'exec' ? line.program.argv : line.program.args;

describe('the project', () => {
  it('is the first plain word when that is a folder, spaces or not', () => {
    expect(run('proj').project).toBe('proj');
    expect(run('my proj', 'do it')).toMatchObject({ project: 'my proj', program: { args: ['do it'] } });
    expect(run().project).toBeUndefined();
  });
  it('is not taken from words after an option of Claude', () => {
    expect(run('-p', 'build')).toMatchObject({ project: undefined, program: { args: ['-p', 'build'], print: true } });
    expect(run('--model', 'proj', 'proj').project).toBeUndefined();
  });
  it('reads a first word with a space as a prompt, and refuses any other', () => {
    expect(args(run('repair it all'))).toEqual(['repair it all']);
    expect(refusal('repair')).toContain('go after --');
    expect(refusal('sesions')).toContain('sessions');
  });
  it('never reads a command word in a later position as a folder', () => {
    expect(refusal('--trace', 'build')).toContain('has to come first');
    expect(run('./build').project).toBe('./build');
    expect(parse('build')).toMatchObject({ kind: 'command', name: 'build' });
  });
});

describe('options', () => {
  it('refuses a typo with the nearest name', () => {
    expect(refusal('--copy-workspce', 'proj')).toContain('--copy-workspace');
    expect(refusal('--copy-workspace=layer')).toContain('layers');
    expect(refusal('-z')).toContain('-z');
  });
  it('takes --copy as the short form of --copy-workspace, with each of its values', () => {
    expect(run('--copy', 'proj')).toEqual(run('--copy-workspace', 'proj'));
    expect(run('--copy=volume')).toEqual(run('--copy-workspace=volume'));
    expect(run('--copy=shallow')).toEqual(run('--copy-workspace=shallow'));
    expect(run('exec', '--copy', '--', 'ls')).toEqual(run('exec', '--copy-workspace', '--', 'ls'));
    expect(parse('batch', '--copy=volume', 'tasks')).toEqual(parse('batch', '--copy-workspace=volume', 'tasks'));
    expect(refusal('--copy=layer')).toContain('Did you mean layers?');
    expect(refusal('--copy=')).toContain('--copy= needs a value after the =');
    expect(refusal('--copi')).toContain('Did you mean --copy?');
    expect(refusal('--bind', '--copy')).toContain('exclude');
    expect(refusal('--model', '--copy')).toContain('needs a value');
  });
  it.each([
    ['--vers', '--version'],
    ['--dry', '--dry-run'],
    ['--mem', '--memory'],
    ['--verb', '--verbose'],
    ['--isolate', '--isolate-claude-data'],
    ['--versino', '--version'],
    ['--yess', '--yes'],
  ])('suggests for %s what begins with it, otherwise what is near: %s', (word, wanted) => {
    expect(refusal(word)).toContain(`Did you mean ${wanted}?`);
  });
  it.each(['-V', '-v'])('reads %s as --version: nobody starts a session for it', (word) => {
    expect(parse(word)).toEqual({ kind: 'version' });
    expect(parse('proj', word)).toEqual({ kind: 'version' });
    expect(args(run('--', word))).toEqual([word]);
  });
  it.each([
    [['--only', 'x'], 'It belongs to: run-claude apply, run-claude commits'],
    [['--json'], /It belongs to: run-claude batch.* and \d+ more commands/],
    [['status', '--memory', '4g'], 'It belongs to the start of a session: run-claude --memory'],
    [['status', '--copy'], 'It belongs to the start of a session: run-claude --copy'],
    [['diff', '--only=x'], 'It belongs to: run-claude apply'],
    [['up', '--base', 'x'], 'It belongs to: run-claude audit'],
    [['status', '--jsno'], 'Did you mean --json?'],
  ])('says of %j where the option belongs', (argv, wanted) => expect(refusal(...argv)).toMatch(wanted));
  it('refuses an agent that does not exist, where no agent has an option of that name', () => {
    expect(refusal('exec', '--agent', 'foo', '--', 'ls')).toContain(
      "--agent: there is no agent 'foo' Write one of: cl",
    );
    expect(refusal('up', '--agent=foo')).toContain("there is no agent 'foo'");
    expect(args(run('--agent', 'foo'))).toEqual(['--agent', 'foo']);
    expect(run('exec', '--agent', 'codex', '--', 'ls').program).toMatchObject({ agent: 'codex' });
  });
  it('takes --bg for itself before --, and refuses it behind --: the agent would go on after its session', () => {
    for (const word of ['--bg', '--background']) {
      expect(run('-p', 'x', word)).toMatchObject({ background: true, program: { args: ['-p', 'x'] } });
      expect(run('exec', word, '--', 'ls').background).toBe(true);
      expect(refusal('--', word)).toContain('Write it before --');
      expect(refusal('up', word)).toContain('--background');
    }
    expect(run('-d').background).toBeUndefined();
  });
  it('takes other words for a command', () => {
    expect(parse('logs', '--follow')).toEqual(parse('log', '--follow'));
    expect(parse('--gc')).toEqual(parse('gc'));
  });
  it('leaves the words of a prompt, and those of other programs, as they are', () => {
    expect(args(run('--', '--', '--bg'))).toEqual(['--', '--bg']);
    expect(args(run('exec', '--', 'x', '--bg'))).toEqual(['x', '--bg']);
    expect(args(run('--agent', 'codex', '--', '--bg'))).toEqual(['--bg']);
  });
  it('accepts optional values only after =', () => {
    expect(run('--copy-workspace', 'proj').project).toBe('proj');
    expect(refusal('--copy-workspace', 'volume')).toContain('no such folder');
    expect(run('--copy-workspace=shallow').flags).toContainEqual(expect.objectContaining({ setting: 'shallow' }));
  });
  it('never reads an option of run-claude as the missing value of the option before it', () => {
    expect(refusal('--model', '--dry-run')).toContain('needs a value');
    expect(refusal('--memory', '--yes')).toContain('needs a value');
    expect(refusal('--system-prompt')).toContain('needs a value');
    expect(args(run('--system-prompt=--dry-run'))).toEqual(['--system-prompt=--dry-run']);
  });
  it('reads a negative number as a value, so that the error names the allowed range', () => {
    expect(run('--cpus', '-1').flags).toContainEqual(expect.objectContaining({ setting: 'cpus', value: '-1' }));
    expect(run('--cpus=-1').flags).toContainEqual(expect.objectContaining({ setting: 'cpus', value: '-1' }));
    expect(refusal('--cpus', '--memory', '8g')).toBe('--cpus needs a value Write --cpus N.');
    expect(refusal('--exclude', '-x')).toContain('--exclude=-x where the value begins with a dash');
  });
  it('reads --debug as an option of Claude and --trace as one of run-claude', () => {
    expect(args(run('--debug'))).toEqual(['--debug']);
    expect(run('--trace').flags).toEqual([{ flag: '--trace', setting: 'trace', value: true }]);
  });
  it('prints help and version', () => {
    expect(parse('--help')).toEqual({ kind: 'help', topic: undefined });
    expect(parse('apply', '--help')).toEqual({ kind: 'help', topic: 'apply' });
    expect(parse('proj', '--version')).toEqual({ kind: 'version' });
    expect(args(run('--', '--help'))).toEqual(['--help']);
  });
  it('accepts help and version as commands', () => {
    expect(parse('help')).toEqual(parse('--help'));
    for (const words of [['help', 'all'], ['--help=all'], ['apply', '--help=all'], ['exec', '--help=all']])
      expect(parse(...words), words.join(' ')).toEqual({ kind: 'help', topic: 'all' });
    expect(parse('help', 'apply')).toEqual(parse('apply', '--help'));
    expect(parse('help', 'exec')).toEqual(parse('exec', '--help'));
    expect(parse('version')).toEqual({ kind: 'version' });
    expect(parse('help', 'tutorial')).toEqual({ kind: 'help', topic: 'tutorial' });
    expect(refusal('version', 'apply')).toContain("unexpected 'apply'");
  });
  it.each([
    ['stauts', 'Did you mean run-claude status?'],
    ['aplly', 'Did you mean run-claude apply?'],
    ['verison', 'Did you mean run-claude version?'],
    ['xyzzy', 'run-claude help lists the commands.'],
  ])('refuses %s as a first word, and suggests a near command', (word, hint) => {
    const wanted = `'${word}' is neither a command nor a folder ${hint} Words for Claude go after --.`;
    expect(refusal(word, '--json')).toBe(wanted);
  });
});

describe('copy or bind', () => {
  it.each([
    [['-p', 'x'], 'copy'],
    [['--', '--print'], 'copy'],
    [['-cp', 'x'], 'copy'],
    [['--', '--append-system-prompt', '-p'], undefined],
    [['--bind', '-p', 'x'], 'bind'],
    [['--auto-apply'], 'copy'],
    [['--shell', '--', '-p'], undefined],
    [['exec', '--', 'sh', '-p'], 'copy'],
    [['exec', '--bind', '--', 'sh'], 'bind'],
    [['--copy-workspace'], 'copy'],
    [['proj'], undefined],
  ])('%j means %s', (argv, wanted) => expect(mode(run(...argv))).toBe(wanted));
  it('refuses options that exclude each other', () => {
    expect(refusal('--bind', '--auto-apply')).toContain('--auto-apply');
    expect(refusal('--bind', '--copy-workspace')).toContain('exclude');
    expect(refusal('exec', 'proj')).toContain('no command');
    expect(refusal('exec', '--shell', '--', 'x')).toContain('--shell');
  });
});

describe('for any words', () => {
  const word = fc.oneof(
    fc.constantFrom(...FOLDERS, '-', '', '-p', '--model', '--modle', 'a b', 'x', '\n', '--', ...CLAUDE_OPTIONS.keys()),
    fc.constantFrom(...RUN_OPTIONS.map((option) => `--${option.name}`), ...COMMANDS.map((shape) => shape.name)),
    fc.string(),
  );
  it('returns a request or ends with status 2', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), (argv) => {
        try {
          parse(...argv);
        } catch (error) {
          expect(error).toMatchObject({ code: 'USAGE', status: 2 });
        }
      }),
      { numRuns: 300 },
    );
  });
  it('passes every word after -- byte for byte, and loses none', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (rest) => {
        expect(args(run('proj', '--', ...rest))).toEqual(rest);
        if (rest.length > 0) expect(args(run('exec', 'proj', '--', ...rest))).toEqual(rest);
      }),
    );
  });
  it('never hands an option of run-claude before -- to Claude', () => {
    const ours = RUN_OPTIONS.filter((option) => option.value === 'none' && !['help', 'version'].includes(option.name));
    fc.assert(
      fc.property(fc.constantFrom(...ours), fc.array(word, { maxLength: 5 }), (option, words) => {
        const before = words.filter((one) => one !== '--');
        try {
          const line = parse('proj', ...before, `--${option.name}`);
          if (line.kind === 'run') expect(args(line)).not.toContain(`--${option.name}`);
        } catch (error) {
          expect(error).toMatchObject({ status: 2 });
        }
      }),
    );
  });
});

describe('a session without an agent', () => {
  it('is up with the options of a session, on a copy, and with no words for an agent', () => {
    expect(parse('up', 'proj', '--network', 'none', '--idle-timeout=2h', '--json')).toMatchObject({
      kind: 'run',
      action: 'up',
      project: 'proj',
      program: { kind: 'kept' },
      json: true,
      flags: [{ setting: 'mode', value: 'copy' }, { setting: 'idle-timeout' }, { setting: 'network', value: 'none' }],
    });
    expect(parse('mcp', 'serve', 'proj')).toMatchObject({
      action: 'serve',
      project: 'proj',
      program: { kind: 'kept' },
    });
    expect(parse('up', '--dry-run')).toMatchObject({ action: 'dry-run', program: { kind: 'kept' } });
    expect(refusal('up', '--bind')).toContain('--bind and up exclude each other');
    expect(refusal('up', '--shell')).toContain('--shell and up exclude each other');
    expect(refusal('up', '--', 'make')).toContain('up takes nothing after --');
    expect(refusal('up', 'missing')).toContain("up: no such folder: 'missing'");
    expect(refusal('up', 'proj', 'make')).toContain("up: unexpected 'make'");
    expect(refusal('up', '--continue')).toContain('unknown option --continue');
    expect(refusal('proj', '--json')).toContain('unknown option --json');
  });

  it('runs a command where exec names a session, and nothing of a project', () => {
    expect(parse('exec', '--session', '261123-1', '--', 'make', '--session', 'x')).toMatchObject({
      kind: 'command',
      name: 'exec',
      options: new Map([['session', ['261123-1']]]),
      rest: ['make', '--session', 'x'],
    });
    expect(parse('exec', 'proj', '--', 'make', '--session', 'x')).toMatchObject({
      kind: 'run',
      program: { kind: 'exec' },
    });
    expect(refusal('exec', '--session')).toContain('--session');
    expect(refusal('exec', '--session', 'x', 'proj', '--', 'make')).toContain("exec: unexpected 'proj'");
    expect(refusal('exec', '--session', 'x', '--network', 'open', '--', 'make')).toContain('unknown option --network');
  });
});

describe('batch', () => {
  it('takes a file, its own options, those of a session, and words for the agents', () => {
    expect(parse('batch', '--jobs', '2', '--memory=4g', 'tasks', '--auto-apply', '--', '--model', 'm')).toEqual({
      kind: 'command',
      name: 'batch',
      words: ['tasks'],
      rest: ['--model', 'm'],
      options: new Map([
        ['jobs', ['2']],
        ['memory', ['4g']],
        ['auto-apply', ['']],
      ]),
    });
  });

  it('refuses what no session of it can be started with', () => {
    expect(refusal('batch', '--bind', 'tasks')).toContain('--bind');
    expect(refusal('batch', '--shell', 'tasks')).toContain('--shell');
    expect(refusal('batch', 'one', 'two')).toContain('two');
  });
});

describe('--dry-run=FORM', () => {
  it('prints the plan for another runtime, without the layers that are named', () => {
    expect(run('--dry-run')).not.toHaveProperty('form');
    expect(run('--dry-run=oci')).toMatchObject({ action: 'dry-run', form: 'oci', without: [] });
    const line = run('--dry-run=pod', '--without-layer', 'swap', '--without-layer=no-network');
    expect(line).toMatchObject({ form: 'pod', without: ['swap', 'no-network'] });
  });

  it('refuses any other form; a session that is started has every layer', () => {
    expect(refusal('--dry-run=vm')).toContain("'vm' is not allowed");
    expect(refusal('--without-layer', 'swap')).toContain('a session that is started has every layer');
    expect(refusal('--dry-run', '--without-layer', 'swap')).toContain('--dry-run=FORM');
  });
});
