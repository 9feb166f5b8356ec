/** When a running session's layer is scanned again, and when its ignored output is counted. */
export interface ScanPace {
  /** To be called before each scan. Returns whether it also counts ignored output: the first and the last one do. */
  startScan(isRunning: boolean): boolean;
  /** To be called after each scan. Returns how long to wait, in milliseconds. */
  endScan(hasChanged: boolean): number;
}

const MIN_PAUSE_MS = 900;
/** Scans take one part in this many of the time while things happen, */
const BUSY_SHARE = 30;
/** and one in this many after some scans that found nothing new. */
const IDLE_SHARE = 120;
const IDLE_AFTER_SCANS = 5;
/** Ignored output may be a hundred times the rest. */
const COUNTING_SHARE = 400;

/**
 * The pace of scans, by a clock of milliseconds. Idle scans together take less than 1% of a core. Where a scan is short,
 * which is where few files have changed, there is one every second all the same.
 */
export function scanPace(nowMs: () => number): ScanPace {
  let started = 0;
  let isCounting = true;
  let nextCount = Number.NEGATIVE_INFINITY;
  let unchangedScans = 0;
  let plainScanMs = 0;
  return {
    startScan(isRunning) {
      started = nowMs();
      isCounting = !isRunning || started >= nextCount;
      return isCounting;
    },
    endScan(hasChanged) {
      const tookMs = nowMs() - started;
      unchangedScans = hasChanged ? 0 : unchangedScans + 1;
      if (isCounting) nextCount = nowMs() + Math.max(MIN_PAUSE_MS, COUNTING_SHARE * tookMs);
      else plainScanMs = tookMs;
      return Math.max(MIN_PAUSE_MS, (unchangedScans < IDLE_AFTER_SCANS ? BUSY_SHARE : IDLE_SHARE) * plainScanMs);
    },
  };
}
