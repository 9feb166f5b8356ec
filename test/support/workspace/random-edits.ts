import fc from 'fast-check';

/** One step of a random tree or of a random session over it. */
type Step = readonly [what: string, a: string, b: string];

/** A tree and what a session does to it. */
export interface Case {
  readonly tree: readonly Step[];
  readonly edits: readonly Step[];
}

const WHAT = [
  'mkdir',
  'write',
  'append',
  'remove',
  'rename',
  'anew',
  'link',
  'symlink',
  'chmod',
  'touch',
  'to-link',
  'copy-over',
  'put-in',
  'exchange',
  'write-unseen',
  'write-mapped',
  'put-in-unseen',
] as const;

const name = fc.constantFrom('a', 'b', 'c', 'd', 'd/a', 'd/b', 'd/e', 'd/e/a', 'e/a', 'e/b', 'e/c', 'f', 'f/a', 'f/b');
const stepOf = (...what: readonly string[]): fc.Arbitrary<Step> => fc.tuple(fc.constantFrom(...what), name, name);
// A tree with little in it would refuse most of what comes after.
const lay = stepOf('write', 'write', 'write', 'put-in', 'link', 'link', 'symlink', 'mkdir', 'chmod');

export const aCase: fc.Arbitrary<Case> = fc.record({
  tree: fc.array(lay, { minLength: 10, maxLength: 20 }),
  edits: fc.array(stepOf('link', ...WHAT), { minLength: 6, maxLength: 14 }),
});

/** A Python program that does each list of steps in its own directory, t0, t1, …; a refused step is skipped. */
export function stepsProgram(lists: readonly (readonly Step[])[]): string {
  return `${PROGRAM}\nrun(${JSON.stringify(lists)})\n`;
}

const PROGRAM = `
import ctypes, errno, mmap, os, shutil, subprocess
libc = ctypes.CDLL(None, use_errno=True)

def remove(a):
    if os.path.isdir(a) and not os.path.islink(a): shutil.rmtree(a)
    elif os.path.lexists(a): os.unlink(a)

def content(a, how, text):
    os.makedirs(os.path.dirname(a) or '.', exist_ok=True)
    with open(a, how) as file: file.write(text)

def put_in(a, b):
    os.makedirs(a, exist_ok=True)
    content(a + '/' + b.replace('/', ''), 'w', 'x')

# Size and times are afterwards what they were.
def unseen(a, edit):
    was = os.stat(a)
    edit()
    os.utime(a, ns=(was.st_atime_ns, was.st_mtime_ns))

def overwrite(a):
    with open(a, 'r+b') as file:
        first = file.read(1)
        file.seek(0)
        file.write(bytes(byte ^ 1 for byte in first))

def overwrite_mapped(a):
    with open(a, 'r+b') as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[0] ^= 1
        mapped.flush()

def rename(a, b):
    try: os.rename(a, b)
    except OSError as error:
        # A directory of the layer below: as mv does it.
        if error.errno != errno.EXDEV: raise
        subprocess.run(['mv', '-T', a, b], stderr=subprocess.DEVNULL)

def exchange(a, b):
    if libc.renameat2(-100, a.encode(), -100, b.encode(), 2) != 0: raise OSError(ctypes.get_errno(), 'exchange')

def copy_over(a):
    new = a + '.n'
    if os.path.isdir(a) and not os.path.islink(a):
        shutil.copytree(a, new, symlinks=True)
        shutil.rmtree(a)
    else: shutil.copy2(a, new, follow_symlinks=False)
    os.rename(new, a)

def link(a, b):
    os.link(a, b + '.n', follow_symlinks=False)
    os.rename(b + '.n', b)

def symlink(b, a):
    if os.path.lexists(a): os.unlink(a)
    os.symlink(b, a)

def anew(a):
    remove(a)
    os.mkdir(a)

def to_link(a):
    remove(a)
    os.symlink('x', a)

steps = {
    'mkdir': lambda a, b: os.makedirs(a, exist_ok=True),
    'write': lambda a, b: content(a, 'w', a + b),
    'append': lambda a, b: content(a, 'a', b),
    'remove': lambda a, b: remove(a),
    'rename': rename,
    'anew': lambda a, b: anew(a),
    'link': link,
    'symlink': lambda a, b: symlink(b, a),
    'chmod': lambda a, b: os.chmod(a, 0o750 if len(b) % 2 == 0 else 0o700),
    'touch': lambda a, b: os.utime(a) if os.path.exists(a) else content(a, 'a', ''),
    'to-link': lambda a, b: to_link(a),
    'copy-over': lambda a, b: copy_over(a),
    'put-in': put_in,
    'exchange': exchange,
    'write-unseen': lambda a, b: unseen(a, lambda: overwrite(a)),
    'write-mapped': lambda a, b: unseen(a, lambda: overwrite_mapped(a)),
    'put-in-unseen': lambda a, b: unseen(a, lambda: put_in(a, b)),
}

def run(lists):
    for number, wanted in enumerate(lists):
        os.makedirs('t%d' % number, exist_ok=True)
        os.chdir('t%d' % number)
        for what, a, b in wanted:
            try: steps[what](a, b)
            except (OSError, ValueError, shutil.Error): pass
        os.chdir('..')
`;
