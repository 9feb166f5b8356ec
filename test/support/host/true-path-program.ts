import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { findPlaces, probeProject } from '../../../src/core/host/facts.ts';
import { pathIdentity } from '../../../src/core/host/files/true-path.ts';
import { refuseProject } from '../../../src/session/plan/refuse-project.ts';

// How paths are named on a file system that folds letter case, as root under a kernel of the test's own.
// argv: the file for the results.
const disk = '/mnt/disk';
mkdirSync(disk);
const script = 'truncate -s 64M /mnt/image; mkfs.jfs -q -O /mnt/image; mount -o loop /mnt/image "$1"';
execFileSync('sh', ['-euc', script, 'sh', disk], { stdio: ['ignore', 'inherit', 'inherit'] });

const home = path.join(disk, 'Users/Me');
const project = path.join(home, 'Work/Shop');
mkdirSync(project, { recursive: true });
const places = findPlaces({}, '/mnt/disk/users/me');
mkdirSync(places.stateDir, { recursive: true });

const outcome = (root: string): string => {
  try {
    refuseProject(root, places, pathIdentity);
    return 'taken';
  } catch (error) {
    return (error as Error).message;
  }
};
const results = {
  home: places.home,
  root: probeProject('/mnt/disk/USERS/me/work/sHOP', { repo: false }).root,
  refused: ['users/me', 'USERS', 'users/ME/.LOCAL/state/RUN-claude/sessions', 'users/me/work'].map((one) =>
    outcome(path.join(disk, one)),
  ),
};
writeFileSync(process.argv[2] ?? '', JSON.stringify(results));
