/** The process that holds a lock, for the user who waits for it. */
export interface LockHolder {
  /** 'process 4711 on laptop' */
  readonly name: string;
  /** 'applying changes to /home/u/shop, started 3 min ago' */
  readonly doing: string;
}
