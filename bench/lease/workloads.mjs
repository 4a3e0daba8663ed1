import { BATCH, CONTENDERS, PATIENCE_MS } from './settings.mjs';

/** Enough for a name not to be cached by whoever caches names, few enough for the server's keys to stay warm. */
const NAMES = 100;

/**
 * What is measured, `count` times. Each proves that it did what it says: a refused command would be a quick one.
 * @type {Record<string, (contender: any, count: number) => Promise<object | void>>}
 */
export const workloads = {
  async alone({ tryOnce, release }, count) {
    for (let n = 0; n < count; n += 1) {
      const held = await tryOnce(0, `alone-${n % NAMES}`);
      if (!held) throw new Error('An uncontended lease was refused.');
      await release(held);
    }
  },

  async together({ tryOnce, release }, count) {
    for (let n = 0; n < count; n += 1) {
      const resource = `together-${n % NAMES}`;
      const asked = [];
      for (let who = 0; who < CONTENDERS; who += 1) asked.push(tryOnce(who, resource));
      const winners = (await Promise.all(asked)).filter(Boolean);
      if (winners.length !== 1) throw new Error(`Expected one winner, got ${winners.length}.`);
      await release(winners[0]);
    }
  },

  async renewals(contender, count) {
    contender.renewAll ??= await contender.manyHeld(Array.from({ length: BATCH }, (_, n) => `held-${n}`));
    for (let n = 0; n < count; n += 1) {
      const renewed = await contender.renewAll();
      if (renewed !== BATCH) throw new Error(`Expected ${BATCH} renewals, got ${renewed}.`);
    }
  },

  /** Only the acquire is timed; each resource is a new one, since a late answer may still hold the last one. */
  async quorum(contender, count) {
    const times = [];
    for (let n = 0; n < count; n += 1) {
      contender.asked = (contender.asked ?? 0) + 1;
      const since = performance.now();
      const held = await within(PATIENCE_MS, contender.tryOnce(0, `quorum-${process.pid}-${contender.asked}`));
      if (held === 'late') return { timesUs: [Infinity] };
      times.push((performance.now() - since) * 1_000);
      if (!held) throw new Error('An uncontended lease was refused.');
      if ((await within(PATIENCE_MS, contender.release(held))) === 'late') return { timesUs: [Infinity] };
    }
    return { timesUs: times };
  },
};

async function within(limitMs, work) {
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, limitMs, 'late')));
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
