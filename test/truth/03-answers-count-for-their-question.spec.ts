import { randomUUID } from 'node:crypto';
import { LEDGER } from '@fencepost/jobs';
import { CronCatalog } from '@fencepost/operations';
import type { Ledger } from '@fencepost/ledger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';

let running: RunningApp;
let ledger: Ledger;

beforeAll(async () => {
  running = await startSchedulerApp();
  await running.app.get(CronCatalog, { strict: false }).set('invoices', { expression: '@manual' }, { by: 'test' });
  ledger = running.app.get<Ledger>(LEDGER, { strict: false });
});
afterAll(() => running.close());

const order = (path: string, body: object) => running.order(`/api/${path}`, { reason: 'a look at the bank', ...body });

async function json<T>(response: Response | Promise<Response>): Promise<T> {
  return (await (await response).json()) as T;
}

async function attempt(runId: string) {
  const nonce = randomUUID();
  const begun = await ledger.begin({ runId, nonce, worker: 'worker/1', ttlMs: 60_000, maxAttempts: 9 });
  if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${begun.verdict}.`);
  return { runId, nonce, fence: begun.fence };
}

/** The worker begins to charge these, and stops without a word about the first. */
async function asksAbout(runId: string, [item = '', ...others]: readonly string[]): Promise<void> {
  const current = await attempt(runId);
  await ledger.advanceItems(current, 'charge', { finished: [], begun: [item, ...others] });
  const unresolvedEffect = { effect: 'charge', item, unknownReason: 'lost', since: Date.UTC(2026, 0, 1) } as const;
  await ledger.finish(current, { kind: 'uncertain', error: 'EffectUnknownError: charge', unresolvedEffect });
}

interface Shown {
  readonly run: { readonly attempt: number };
  readonly unresolvedEffect: { readonly effect: string; readonly item: string | null; readonly since: string };
}

/** What a person sees of the run, and would answer. */
async function seen(runId: string) {
  const { run, unresolvedEffect } = await json<Shown>(running.ask(`/api/runs/${runId}`));
  return {
    attempt: run.attempt,
    effect: unresolvedEffect.effect,
    item: unresolvedEffect.item,
    since: unresolvedEffect.since,
  };
}

describe('two people look at the question about alice, and the first one answers', () => {
  it('the second answer, meant for alice, is refused once the run asks about bob', async () => {
    const { runId } = await json<{ runId: string }>(order('crons/invoices/trigger', { force: true }));
    await asksAbout(runId, ['alice', 'bob']);
    const aboutAlice = await seen(runId);
    expect((await order(`runs/${runId}/resolve`, { answer: 'done', ...aboutAlice })).status).toBe(200);
    await asksAbout(runId, ['bob']);

    const late = await order(`runs/${runId}/resolve`, { answer: 'not-done', ...aboutAlice });
    expect([late.status, await json(late)]).toEqual([
      409,
      {
        type: 'https://fencepost.dev/problems/run-state',
        title: 'Run in another state',
        status: 409,
        code: 'RUN_STATE',
        detail:
          `Run "${runId}" now waits for the item "bob" of "charge" (attempt 2, begun at 2026-01-01T00:00:00.000Z), but the answer ` +
          `was about the item "alice" of "charge" (attempt 1, begun at 2026-01-01T00:00:00.000Z). Nothing was changed: review ` +
          `the run and answer its current question.`,
      },
    ]);
    expect(await ledger.items(runId, 'charge')).toMatchObject([
      { key: 'alice', state: 'done' },
      { key: 'bob', state: 'begun' },
    ]);
    expect((await order(`runs/${runId}/resolve`, { answer: 'not-done', ...(await seen(runId)) })).status).toBe(200);
  });

  it.each(['attempt', 'effect', 'since'])(
    'and an answer that does not name its question is refused: no %s',
    async (word) => {
      const { runId } = await json<{ runId: string }>(order('crons/invoices/trigger', { force: true }));
      await asksAbout(runId, ['alice']);
      const answer = { answer: 'done', ...(await seen(runId)), [word]: undefined };
      const refused = await order(`runs/${runId}/resolve`, answer);
      expect([refused.status, await json(refused)]).toMatchObject([400, { code: 'BAD_REQUEST' }]);
      expect(await ledger.readRun(runId)).toMatchObject({ state: 'uncertain' });
    },
  );
});
