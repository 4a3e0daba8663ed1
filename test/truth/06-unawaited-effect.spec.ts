import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TransactionalRunContext } from '@fencepost/jobs';
import { RUN, RUN_LEASE_MS, WorkerStage } from '../support/worker-stage.js';

/** What would end a process. Vitest listens as well, and would fail the file. */
const unhandled: unknown[] = [];
const note = (error: unknown) => void unhandled.push(error);
let stage: WorkerStage;
beforeEach(async () => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
  stage = await WorkerStage.with();
});
afterEach(async () => {
  // Node.js reports a rejection after the microtasks of a turn.
  await turn();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

const LATER = 5;
const later = () => new Promise<string>((resolve) => setTimeout(resolve, LATER, 'done'));
const broken = () => later().then(() => Promise.reject(new Error('refused')));
const run = () => stage.memoryLedger.readRun(RUN);

async function deliver(work: (run: TransactionalRunContext) => unknown): Promise<void> {
  await stage.deliver(async (context) => void (await work(context)));
}

const FORGOTTEN: Record<string, [name: string, work: (run: TransactionalRunContext) => unknown]> = {
  'an effect that is still going on': ['mail', ({ effect }) => void effect('mail', later)],
  'an effect that fails later': ['mail', ({ effect }) => void effect('mail', broken)],
  'an effect that has failed already': [
    'mail',
    async ({ effect }) => {
      void effect('mail', broken);
      await effect('slow', () => new Promise((resolve) => setTimeout(resolve, 4 * LATER)));
    },
  ],
  'an effect that has succeeded already': [
    'mail',
    async ({ effect }) => {
      void effect('mail', later);
      await effect('slow', () => new Promise((resolve) => setTimeout(resolve, 4 * LATER)));
    },
  ],
  'an effect whose "then" fails': [
    'mail',
    async ({ effect }) => {
      void effect('mail', later).then(() => Promise.reject(new Error('in then')));
      await effect('slow', () => new Promise((resolve) => setTimeout(resolve, 4 * LATER)));
    },
  ],
  'an effect that lost a race': [
    'mail',
    ({ effect }) => Promise.race([effect('mail', later), Promise.resolve('sooner')]),
  ],
  'an effect without a valid name': ['', ({ effect }) => void effect('', later)],
  items: ['items', ({ forEach }) => void forEach(['a', 'b'], (key) => key, later)],
  'items that fail': ['rows', ({ forEach }) => void forEach(['a'], (key) => key, broken, { name: 'rows' })],
  'a transaction': ['transaction', ({ transaction }) => void transaction(() => 1)],
};

describe.each(Object.entries(FORGOTTEN))('a handler that does not await %s', (_, [name, work]) => {
  it('has its run fail for good with the name of the effect, and touches nothing else in the process', async () => {
    await deliver(work);
    const { state, error, attempt } = (await run()) ?? {};
    expect([state, attempt, error]).toEqual(['failed', 1, expect.stringContaining(`Effect "${name}" was not awaited`)]);
  });
});

describe('an effect that is not awaited', () => {
  it('is recorded before its run fails, so that nobody has to ask what became of it', async () => {
    await deliver(({ effect }) => void effect('mail', later));
    expect(await stage.memoryLedger.effects(RUN)).toMatchObject([{ name: 'mail', state: 'done', result: '"done"' }]);
  });

  it('ends quietly when its run was taken over meanwhile', async () => {
    let end = () => {};
    const over = stage.deliver((context) => {
      void context.effect('mail', () => new Promise<void>((resolve) => (end = resolve)));
      return Promise.resolve();
    });
    await turn();
    stage.ledger.next('heartbeat', ...Array.from({ length: 9 }, () => 'fail' as const));
    await stage.manual.advance(RUN_LEASE_MS);
    await stage.takenOver();
    end();
    await over;
    expect(stage.events.of('attempt.aborted')).toHaveLength(1);
  });

  it('is refused quietly when the handler starts it after its run has ended', async () => {
    let context: TransactionalRunContext | undefined;
    await deliver((given) => void (context = given));
    void context?.effect('mail', later);
    await turn();
    expect((await run())?.state).toBe('succeeded');
    expect(await stage.memoryLedger.effects(RUN)).toEqual([]);
  });
});

const AWAITED: Record<string, (run: TransactionalRunContext) => unknown> = {
  awaits: async ({ effect }) => void (await effect('mail', later)),
  returns: ({ effect }) => effect('mail', later),
  'awaits later': async ({ effect }) => {
    const mail = effect('mail', later);
    await effect('slow', () => new Promise((resolve) => setTimeout(resolve, 4 * LATER)));
    await mail;
  },
  'awaits all of several': ({ effect }) => Promise.all([effect('a', later), effect('b', later)]),
  'catches the failure of': ({ effect }) => effect('mail', broken).catch(() => 'fine'),
  'awaits "finally" of': async ({ effect }) => void (await effect('mail', later).finally(() => {})),
};

it.each(Object.entries(AWAITED))('a handler that %s an effect succeeds', async (_, work) => {
  await deliver(work);
  expect(await run()).toMatchObject({ state: 'succeeded', error: null });
});
