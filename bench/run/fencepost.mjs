import { openRuns } from './runs.mjs';
import { serve } from './child.mjs';
import { INSERT_ROW } from './rows.mjs';
import { Tally } from './tally.mjs';

/** Handlers that go on until they are released. */
class Held {
  #waiting = [];
  #wanted = { count: Infinity, there: () => {} };

  /** Called by each handler. */
  hold() {
    return new Promise((release) => {
      this.#waiting.push(release);
      if (this.#waiting.length >= this.#wanted.count) this.#wanted.there();
    });
  }

  /** When `count` of them go on at once. */
  all(count) {
    return new Promise((there) => {
      this.#wanted = { count, there };
      if (this.#waiting.length >= count) there();
    });
  }

  release() {
    for (const release of this.#waiting.splice(0)) release();
  }
}

const ITEMS = Array.from({ length: 1_000 }, (_, n) => `item-${n}`);

/** Our worker, on the ledger that it is told. */
await serve(async (about) => {
  const [tally, held] = [new Tally(), new Held()];
  const works = {
    nothing: async () => {},
    effect: (run) => run.effect('call', () => 'done'),
    items: (run) => run.forEach(ITEMS, keyOf, async () => {}),
    held: () => held.hold(),
    transaction: (run) => run.transaction(async (tx) => void (await tx.query(INSERT_ROW, [run.id]))),
  };
  let work = works.nothing;
  const worker = await openRuns(about, async (run) => {
    try {
      await work(run);
      tally.count();
    } catch (error) {
      tally.fail(error);
      throw error;
    }
  });
  const { queue } = worker;
  return {
    fill: (order) => worker.fill(order),
    async drain({ count, handler: name = 'nothing' }) {
      work = works[name];
      return tally.window(count, () => queue.resume());
    },
    /** Lets `count` handlers go on for `beats` heartbeats each, and says how many calls of the ledger those were. */
    async hold({ count, beats }) {
      let calls;
      work = works.held;
      await tally.window(count, async () => {
        await queue.resume();
        await held.all(count);
        // From here to the first end the ledger's own connection has nothing else to send.
        const before = tally.sentBy(worker.redis);
        await worker.beats(count * beats);
        calls = tally.sentBy(worker.redis) - before;
        held.release();
      });
      return { calls };
    },
    stop: () => worker.stop(),
  };
});

function keyOf(item) {
  return item;
}
