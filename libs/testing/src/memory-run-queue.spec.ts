import { describe, expect, it } from 'vitest';
import { ManualClock, MemoryRunQueue, type Disposition, type Delivery } from './index.js';

const first: Delivery = { runId: 'c@1', delivery: 1 };
const second: Delivery = { runId: 'c@1', delivery: 2 };

/** A queue whose worker answers with these, one after the other. */
function queue(...answers: (Disposition | Error)[]) {
  const clock = new ManualClock();
  const brought: Delivery[] = [];
  const work = async (delivery: Delivery): Promise<Disposition> => {
    brought.push(delivery);
    const answer = answers.shift() ?? { kind: 'settled' };
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { clock, brought, runs: new MemoryRunQueue({ clock, work }) };
}

describe('the memory queue', () => {
  it('brings each delivery to the worker once, also when it is enqueued twice', async () => {
    const { clock, brought, runs } = queue();
    await runs.enqueue([first, first, second]);
    await runs.enqueue([first]);
    await clock.advance(0);
    expect(brought).toEqual([first, second]);
    expect(runs.taken).toEqual([first, second]);
    expect(await runs.holds([first, second])).toEqual([null, null]);
  });

  it('brings a delivery again when the worker wants it later, and holds it meanwhile', async () => {
    const { clock, brought, runs } = queue({ kind: 'later', waitMs: 500 });
    await runs.enqueue([first]);
    await clock.advance(499);
    expect([brought.length, await runs.holds([first])]).toEqual([1, ['waiting']]);
    await clock.advance(1);
    expect([brought.length, await runs.holds([first])]).toEqual([2, [null]]);
  });

  it('takes a worker that rejects for one that failed', async () => {
    const { clock, brought, runs } = queue(new Error('crashed'));
    await runs.enqueue([first]);
    await clock.advance(10_000);
    expect([brought.length, await runs.holds([first])]).toEqual([1, [null]]);
  });

  it('holds what it was given while there is no worker, until it is wiped', async () => {
    const runs = new MemoryRunQueue();
    await runs.enqueue([first]);
    expect(await runs.holds([first, second])).toEqual(['waiting', null]);
    runs.wipe();
    expect(await runs.holds([first])).toEqual([null]);
  });

  it('leaves no timer behind when it is wiped', async () => {
    const { clock, brought, runs } = queue({ kind: 'later', waitMs: 500 });
    await runs.enqueue([first]);
    await clock.advance(0);
    runs.wipe();
    expect(clock.pending).toBe(0);
    expect(brought).toHaveLength(1);
  });
});
