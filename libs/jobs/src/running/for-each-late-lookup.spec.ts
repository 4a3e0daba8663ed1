import 'reflect-metadata';
import { expect, it } from 'vitest';
import { JobHandler } from '../nest/job-handler.decorator.js';
import { testJobs } from '@fencepost/testing';
import type { RunContext } from './run-context.js';

/** A job of one item; who looks it up waits. */
class Slow {
  readonly called: number[] = [];
  answer = () => {};
  readonly #answered = new Promise<void>((resolve) => (this.answer = resolve));

  @JobHandler('slow')
  async execute(run: RunContext): Promise<void> {
    const ifUnknown = async () => {
      await this.#answered;
      return 'not-done' as const;
    };
    await run.forEach(['item'], String, () => void this.called.push(run.attempt), { ifUnknown });
  }
}

async function lookingUp() {
  const job = new Slow();
  const kit = await testJobs({ crons: [job], patienceMs: 20 });
  kit.crash.after('advanceItems', 'items');
  const { id } = await kit.enqueue('slow');
  await kit.advance('45s');
  expect(await kit.run(id)).toMatchObject({ state: 'running', attempt: 2 });
  return { job, kit, id };
}

it('calls an item whose lookup says that it did not happen', async () => {
  const { job, kit, id } = await lookingUp();
  job.answer();
  await kit.advance('1s');
  expect([job.called, (await kit.run(id)).state]).toEqual([[2], 'succeeded']);
});

it('does not call an item whose lookup came back when its attempt was over', async () => {
  const { job, kit, id } = await lookingUp();
  await kit.ledger.cancel(id, { by: 'anna', graceMs: 600_000 });
  await kit.advance('20s');
  job.answer();
  await kit.advance('1s');
  expect([job.called, (await kit.run(id)).state]).toEqual([[], 'cancelled']);
});
