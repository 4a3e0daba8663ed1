import { expect, it } from 'vitest';
import { fence, Stage, type MakeLedgerHarness } from './stage.js';

/** Everybody at once. */
export function raceContract(makeHarness: MakeLedgerHarness): void {
  function counted(replies: readonly { readonly verdict: string }[]): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { verdict } of replies) counts[verdict] = (counts[verdict] ?? 0) + 1;
    return counts;
  }

  it('fifty holders that claim one occurrence make one run', async () => {
    const stage = await Stage.of(makeHarness);
    const fences = Array.from({ length: 50 }, (_, n) => 1_000 + ((n * 17) % 50));
    const requests = await Promise.all(
      fences.map((value) => stage.request(1, { fence: fence(value), term: `term ${value}` })),
    );
    const replies = await Promise.all(requests.map((request) => stage.ledger.claim(request)));
    expect(replies.filter(({ verdict }) => verdict === 'claimed')).toHaveLength(1);
    expect(replies.filter(({ verdict }) => verdict === 'stale' || verdict === 'moved')).toHaveLength(49);
    expect(await stage.ledger.runs(stage.cron, 100)).toHaveLength(1);
    expect(await stage.ledger.pending(stage.cron)).toHaveLength(1);
  });

  it('one claim that is sent fifty times makes one run, and is claimed fifty times', async () => {
    const stage = await Stage.of(makeHarness);
    const request = await stage.request(1);
    const replies = await Promise.all(Array.from({ length: 50 }, () => stage.ledger.claim(request)));
    expect(counted(replies)).toEqual({ claimed: 50 });
    expect(await stage.ledger.pending(stage.cron)).toEqual([{ runId: stage.idOf(1), delivery: 1 }]);
  });

  it('twenty workers that begin one run make one attempt', async () => {
    const stage = await Stage.of(makeHarness);
    const runId = await stage.enqueued(1);
    const replies = await Promise.all(Array.from({ length: 20 }, () => stage.ledger.begin(stage.attempt(runId))));
    expect(counted(replies)).toEqual({ begun: 1, busy: 19 });
    expect(await stage.run(runId)).toMatchObject({ attempt: 1 });
  });

  it('twenty workers that begin twenty runs of a cron that must not overlap make one attempt', async () => {
    const stage = await Stage.of(makeHarness);
    for (let n = 1; n <= 20; n += 1) {
      const attempt = await stage.begun(await stage.claimed(n, { overlap: 'skip' }));
      await stage.orphan(attempt);
    }
    const ids = Array.from({ length: 20 }, (_, n) => stage.idOf(n + 1));
    const replies = await Promise.all(ids.map((runId) => stage.ledger.begin(stage.attempt(runId))));
    expect(counted(replies)).toEqual({ begun: 1, busy: 19 });
  });

  it('twenty workers that begin what waits in a line begin its head', async () => {
    const stage = await Stage.of(makeHarness);
    const ids = Array.from({ length: 20 }, (_, n) => stage.idOf(n + 1));
    for (let n = 1; n <= 20; n += 1) await stage.claimed(n, { overlap: 'queue-all' });
    const replies = await Promise.all(ids.toReversed().map((runId) => stage.ledger.begin(stage.attempt(runId))));
    expect(counted(replies)).toEqual({ begun: 1, busy: 19 });
    expect((await stage.run(stage.idOf(1))).state).toBe('running');
  });

  it('twenty ends of one attempt end it once, and the first word stands', async () => {
    const stage = await Stage.of(makeHarness);
    const attempt = await stage.begun(await stage.claimed(1));
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        stage.ledger.finish(attempt, n % 2 === 0 ? { kind: 'succeeded' } : { kind: 'failed', error: `${n}` }),
      ),
    );
    expect(new Set(replies)).toEqual(new Set(['succeeded']));
    expect(await stage.run(attempt.runId)).toMatchObject({ state: 'succeeded', error: null });
  });

  it('twenty dones of one effect record one result', async () => {
    const stage = await Stage.of(makeHarness);
    const attempt = await stage.begun(await stage.claimed(1));
    await stage.beginEffect(attempt, 'mail');
    await Promise.all(Array.from({ length: 20 }, (_, n) => stage.finishEffect(attempt, 'mail', `${n}`)));
    // Which of them comes first is the store's to say: each may be asked over another connection.
    const recorded = await stage.beginEffect(attempt, 'mail');
    expect(recorded).toMatchObject({ verdict: 'done', result: expect.stringMatching(/^1?\d$/) });
    await stage.finishEffect(attempt, 'mail', 'later');
    expect(await stage.beginEffect(attempt, 'mail')).toEqual(recorded);
  });
}
