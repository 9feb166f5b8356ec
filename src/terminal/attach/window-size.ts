import type { Container } from '../../core/types/engine.ts';

/** Between two sizes of which a program is to notice the first. */
const REDRAW_MS = 500;

interface SizedScreen {
  readonly columns?: number;
  readonly rows?: number;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/**
 * Passes the size of the user's terminal on, now and whenever it changes, until undone. The function that is returned
 * makes the agent draw its screen again.
 */
export function followSize(
  container: Pick<Container, 'resize'>,
  screen: SizedScreen,
  { redrawNow }: { readonly redrawNow: boolean },
  undo: (() => void)[],
): () => void {
  const tell = async (moreRows = 0): Promise<void> => {
    if (screen.columns === undefined || screen.rows === undefined) return;
    // The container may be ending: the size is of no use to it then.
    await container.resize?.(screen.columns, screen.rows + moreRows).catch(() => undefined);
  };
  const onResize = (): void => void tell();
  screen.on('resize', onResize);
  undo.push(() => screen.off('resize', onResize));
  // The kernel tells the program of another size only, and the program may look at it late.
  const redraw = (): void =>
    void tell(1)
      .then(
        () =>
          new Promise((resolve) => {
            setTimeout(resolve, REDRAW_MS).unref();
          }),
      )
      .then(onResize);
  if (redrawNow) redraw();
  else onResize();
  return redraw;
}
