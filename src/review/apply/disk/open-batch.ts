import { closeSync, fstatSync, unlinkSync } from 'node:fs';
import { flushOpen } from '../../../core/store/flush.ts';
import { encodeBytes, parentPath } from '../../../core/text/path.ts';
import { openHost } from './host/host-entry.ts';
import { type HostWalker, NotAFolder } from './host/host-path.ts';
import { removeTemporary } from './remove-temporary.ts';
import { commitStep, type Staged, type StepTools, stageStep, type Unflushed } from './steps/perform-step.ts';
import type { Step } from './steps/steps.ts';

interface StagedStep extends Staged {
  isOpen: boolean;
  readonly path: string;
  readonly temp: string;
  /** Descriptor of the folder that the content was written in: the folder may be moved since. */
  readonly folder: number;
}

/**
 * What a batch of steps has open: new contents next to their targets, and files and folders that are forced to the disk
 * together at its end. Disposing removes the contents that were not renamed.
 */
export class OpenBatch implements Unflushed, Disposable {
  readonly #walker: HostWalker;
  readonly #unfinished: Set<number>;
  readonly #staged = new Map<number, StagedStep>();
  readonly #files: number[] = [];
  readonly #folders = new Map<string, number>();

  /** `unfinished` gets the number of each step whose file next to the target could not be removed. */
  constructor(walker: HostWalker, unfinished: Set<number>) {
    this.#walker = walker;
    this.#unfinished = unfinished;
  }

  addFile(fd: number): void {
    this.#files.push(fd);
  }

  addFolder(): void {
    this.#enteredFolder();
  }

  /**
   * Descriptor of the folder entered last. Folders are distinguished by inode: another one may have the same path by
   * now.
   */
  #enteredFolder(): number {
    const identity = this.#walker.folderIdentity();
    const fd = this.#folders.get(identity) ?? this.#walker.openFolder();
    this.#folders.set(identity, fd);
    return fd;
  }

  /** Throws as {@link stageStep}. */
  stage(number: number, step: Step, tools: StepTools): void {
    const { path } = step;
    const { temp } = tools;
    this.#walker.enter(parentPath(path));
    const folder = this.#enteredFolder();
    try {
      this.#staged.set(number, { ...stageStep(step, tools), isOpen: true, path, temp, folder });
    } catch (error) {
      this.#remove(number, { path, temp, folder });
      throw error;
    }
  }

  /** Forces the staged contents to the disk and closes them; gives the steps whose content could not be. */
  async flushStaged(): Promise<ReadonlyMap<number, Error>> {
    const failed = await flushOpen([...this.#staged.values()].map(({ fd }) => fd));
    const unsafe = new Map<number, Error>();
    for (const [number, staged] of this.#staged) {
      const error = failed.get(staged.fd);
      if (error !== undefined) unsafe.set(number, error);
      close(staged);
    }
    return unsafe;
  }

  /** Gives and throws as {@link commitStep}. */
  commit(number: number, step: Step, tools: StepTools): number | undefined {
    const staged = this.#staged.get(number);
    const mode = commitStep(step, { ...tools, unflushed: this, ...(staged && { staged }) });
    this.#staged.delete(number);
    return mode;
  }

  hasStaged(number: number): boolean {
    return this.#staged.has(number);
  }

  /** Adds the result of a step that an earlier process did and may not have forced to the disk. */
  addFinished({ path, post }: Step): void {
    this.#walker.enter(post?.kind === 'dir' ? path : parentPath(path));
    this.addFolder();
    if (post?.kind !== 'file') return;
    try {
      this.addFile(openHost(this.#walker, path));
    } catch (error) {
      // Its owner may not read it: its content was forced to the disk before it got its name.
      if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    }
  }

  /** Removes the content that was staged for a step, if any. */
  drop(number: number): void {
    const staged = this.#staged.get(number);
    if (staged === undefined) return;
    this.#staged.delete(number);
    close(staged);
    this.#remove(number, staged);
  }

  #remove(number: number, { path, temp, folder }: Omit<StagedStep, keyof Staged | 'isOpen'>): void {
    let isMoved = false;
    try {
      isMoved = !removeTemporary(this.#walker, path, temp);
    } catch (error) {
      isMoved = error instanceof NotAFolder;
      if (!isMoved) this.#unfinished.add(number);
    }
    if (isMoved && process.platform === 'linux') removeIn(folder, encodeBytes(temp));
  }

  /** Forces what the steps left to the disk. Throws the first error. */
  async flush(): Promise<void> {
    const failed = await flushOpen([...this.#files, ...this.#folders.values()]);
    for (const [fd, error] of failed) {
      // A folder that was removed since, or a file system that has nothing to force there.
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!['EINVAL', 'ENOTSUP'].includes(code) && fstatSync(fd).nlink > 0) throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const number of [...this.#staged.keys()]) this.drop(number);
    for (const fd of [...this.#files, ...this.#folders.values()]) closeSync(fd);
  }
}

function close(staged: StagedStep): void {
  if (staged.isOpen) closeSync(staged.fd);
  staged.isOpen = false;
}

/** Removes a name in a folder that was moved or replaced since. */
function removeIn(folder: number, name: Buffer): void {
  try {
    unlinkSync(Buffer.concat([Buffer.from(`/proc/self/fd/${folder}/`), name]));
  } catch {
    // It was removed with the folder.
  }
}
