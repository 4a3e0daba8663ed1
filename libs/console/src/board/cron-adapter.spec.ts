import { describe, expect, it } from 'vitest';
import { RUN_QUEUE, type BullmqRunQueue } from '@fencepost/jobs/internal';
import { START } from '../../../../test/support/audit-history.js';
import { startSchedulerApp } from '../../../../test/support/scheduler-app.js';
import { CronAdapter, unreadSchedulers } from './cron-adapter.js';

describe('the board, when the stores do not answer', () => {
  const known = { shown: [{ id: 'nightly', name: 'nightly', iterationCount: 3 }], at: new Date(START) };

  it('shows the list that was known last, and since when', () => {
    const [note, ...rest] = unreadSchedulers(known, new Error('Command timed out'));
    expect(note?.name).toContain(`NOT UP TO DATE, the rest is as of ${new Date(START).toISOString()}`);
    expect(rest).toEqual(known.shown);
  });

  it('shows one line where nothing was known yet, and never an empty list', async () => {
    const running = await startSchedulerApp();
    try {
      const away = () => Promise.reject(new Error('Command timed out'));
      const runs = running.app.get<BullmqRunQueue>(RUN_QUEUE, { strict: false });
      const gate = { run: (work: () => Promise<unknown>) => work() };
      const deps = { runs, gate, directory: { page: away, counts: away } };
      const adapter = new CronAdapter(deps as unknown as ConstructorParameters<typeof CronAdapter>[0]);
      expect(await adapter.getJobSchedulers()).toEqual([
        expect.objectContaining({ name: expect.stringContaining('NOT UP TO DATE, nothing is known yet') as string }),
      ]);
      expect(await adapter.getJobSchedulersCount()).toBe(1);
    } finally {
      await running.close();
    }
  });
});
