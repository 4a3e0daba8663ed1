import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BoardOfOurs } from './board-of-ours.js';
import { RUN_QUEUE, type BullmqRunQueue } from '@fencepost/jobs/internal';
import { START } from '../../../../test/support/audit-history.js';
import { startSchedulerApp } from '../../../../test/support/scheduler-app.js';
import { CronAdapter, unreadSchedulers } from './cron-adapter.js';

describe('board of ours', () => {
  interface Rendering {
    render(name: string, words: object, done: (error: unknown, html: string) => void): void;
  }

  const UI = dirname(createRequire(import.meta.url).resolve('@bull-board/ui/package.json'));
  const WORDS = {
    basePath: '/queues/',
    title: 'x',
    favIconAlternative: 'a.png',
    favIconDefault: 'a.svg',
    uiConfig: '{}',
    base: '../queues/',
  };

  it('the page of the board asks nobody but its pod', async () => {
    const app = new BoardOfOurs().setViewsPath(join(UI, 'dist')).getRouter() as Rendering;
    const html = await new Promise<string>((resolve, reject) => {
      app.render('index', WORDS, (error, text) => (error instanceof Error ? reject(error) : resolve(text)));
    });
    expect(html).toContain('__UI_CONFIG__');
    expect(html).toContain('<base href="../queues/" /><script src="base.js"></script>');
    expect(html).not.toMatch(/https?:/);
  });
});

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
