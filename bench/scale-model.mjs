// The model of docs/explanation/scale.md. Pure: bench/scale.mjs measures its constants and prints its results.

/**
 * What a session used while it ran alone, slice by slice. `used`: processors. After `endsAtMs` its command has ended, and
 * the engine still cleans up.
 * @typedef {{ slices: { ms: number, used: number }[], endsAtMs: number }} Profile
 */

/** Random numbers in [0, 1) that are the same in every run (mulberry32). @param {number} seed */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Divides processors among demands: nobody gets more than the demand, and what one leaves goes to the others.
 * @param {number[]} demands @param {number} processors @returns {number[]}
 */
export function fairShares(demands, processors) {
  const shares = demands.map(() => 0);
  let left = processors;
  const rising = demands.map((_, at) => at).sort((a, b) => (demands[a] ?? 0) - (demands[b] ?? 0));
  for (const [done, at] of rising.entries()) {
    const share = Math.min(demands[at] ?? 0, left / (rising.length - done));
    shares[at] = share;
    left -= share;
  }
  return shares;
}

/**
 * Sessions of a queue on one machine: each goes through its profile, and slower where the processors do not suffice. Waits
 * do not slow each other.
 * @param {Profile[]} profiles taken in turn
 * @param {{ tasks: number, jobs: number, processors: number }} queue
 * @returns {{ ms: number, each: number[] }} until the last session's command has ended, and of each session
 */
export function simulateQueue(profiles, { tasks, jobs, processors }) {
  /** @type {{ profile: Profile, at: number, leftMs: number, doneMs: number, startMs: number, isEnded: boolean }[]} */
  let active = [];
  /** @type {number[]} */
  const each = [];
  let [now, started, running] = [0, 0, 0];
  const start = () => {
    while (running < jobs && started < tasks) {
      const profile = profiles[started % profiles.length];
      if (profile === undefined || profile.slices.length === 0) throw new Error('a profile without slices');
      const leftMs = profile.slices[0]?.ms ?? 0;
      active.push({ profile, at: 0, leftMs, doneMs: 0, startMs: now, isEnded: false });
      started += 1;
      running += 1;
    }
  };
  start();
  while (running > 0) {
    const demands = active.map(({ profile, at }) => profile.slices[at]?.used ?? 0);
    const shares = fairShares(demands, processors);
    const rates = demands.map((demand, at) => (demand === 0 ? 1 : (shares[at] ?? 0) / demand));
    // Until the next slice or the next end, all rates stay the same.
    const step = Math.min(
      ...active.map(({ profile, leftMs, doneMs, isEnded }, at) => {
        const untilEnd = isEnded ? Number.POSITIVE_INFINITY : profile.endsAtMs - doneMs;
        return Math.min(leftMs, Math.max(untilEnd, 0)) / (rates[at] ?? 1);
      }),
    );
    now += step;
    for (const [index, one] of active.entries()) {
      const done = step * (rates[index] ?? 1);
      one.leftMs -= done;
      one.doneMs += done;
      if (one.leftMs <= 1e-6) {
        one.at += 1;
        one.leftMs = one.profile.slices[one.at]?.ms ?? 0;
      }
      const isLast = one.at >= one.profile.slices.length;
      if (!one.isEnded && (one.doneMs >= one.profile.endsAtMs - 1e-6 || isLast)) {
        one.isEnded = true;
        running -= 1;
        each.push(now - one.startMs);
      }
    }
    active = active.filter(({ at, profile }) => at < profile.slices.length);
    start();
  }
  return { ms: now, each };
}

/**
 * A normal distribution's logarithm: `median`, and `spread` as the standard deviation of the logarithm.
 * @param {() => number} random @param {{ median: number, spread: number }} of
 */
export function logNormal(random, { median, spread }) {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return median * Math.exp(spread * normal);
}

/**
 * When sessions are submitted, in seconds since the first midnight, rising: at random, with the day's shape.
 * @param {() => number} random @param {{ sessions: number, days: number, shape: readonly number[] }} of
 */
export function submitTimes(random, { sessions, days, shape }) {
  const sum = shape.reduce((all, one) => all + one, 0);
  /** @type {number[]} */
  const times = [];
  for (let day = 0; day < days; day += 1) {
    for (let count = 0; count < sessions; count += 1) {
      let left = random() * sum;
      let hour = 0;
      while (hour < shape.length - 1 && left >= (shape[hour] ?? 0)) left -= shape[hour++] ?? 0;
      times.push((day * 24 + hour + random()) * 3600);
    }
  }
  return times.sort((a, b) => a - b);
}

/** The index of a project, where the k-th most used one is used 1/k as often as the first. @param {number} count */
export function zipf(count) {
  /** @type {number[]} */
  const sums = [];
  for (let at = 0; at < count; at += 1) sums.push((sums[at - 1] ?? 0) + 1 / (at + 1));
  const total = sums.at(-1) ?? 0;
  /** @param {() => number} random */
  return (random) => {
    const wanted = random() * total;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
