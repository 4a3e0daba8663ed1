import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BoardOfOurs } from './board-of-ours.js';
import { RUN_QUEUE, type BullmqRunQueue } from '@fencepost/jobs/internal';
import { startSchedulerApp } from '../../../../test/support/scheduler-app.js';
import { CronAdapter } from './cron-adapter.js';

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
  it('is told so, and is not handed an empty list', async () => {
    const running = await startSchedulerApp();
    try {
      const away = () => Promise.reject(new Error('Command timed out'));
      const runs = running.app.get<BullmqRunQueue>(RUN_QUEUE, { strict: false });
      const gate = { run: (work: () => Promise<unknown>) => work() };
      const deps = { runs, queue: 'runs', gate, directory: { page: away, counts: away } };
      const adapter = new CronAdapter(deps as unknown as ConstructorParameters<typeof CronAdapter>[0]);
      await expect(adapter.getJobSchedulers()).rejects.toThrow('Command timed out');
      await expect(adapter.getJobSchedulersCount()).rejects.toThrow('Command timed out');
    } finally {
      await running.close();
    }
  });
});
