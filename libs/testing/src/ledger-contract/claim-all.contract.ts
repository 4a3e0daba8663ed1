import { beforeEach, describe, expect, it } from 'vitest';
import type { ClaimRequest } from '@fencepost/ledger';
import { fence, Stage, type MakeLedgerHarness } from './stage.js';

/** Many crons at once: each claim has its own outcome. */
export function claimAllContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
  });

  async function requestFor(cron: string, over: Partial<ClaimRequest> = {}): Promise<ClaimRequest> {
    const { cursor } = await stage.ledger.readCron(cron);
    return { ...(await stage.request(1)), cron, cursor, ...over };
  }

  async function outcomes(requests: readonly ClaimRequest[]) {
    const settled = await stage.ledger.claimAll(requests);
    return settled.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as unknown)));
  }

  describe('claimAll', () => {
    it('claims one occurrence of each of five hundred crons, and answers in the order given', async () => {
      const crons = Array.from({ length: 500 }, (_, n) => `cron-${(n * 7) % 500}`);
      const requests = crons.map((cron) => ({ ...base, cron }));
      const ids = crons.map((cron) => `${cron}@${stage.instant(1)}`);
      expect(await outcomes(requests)).toEqual(ids.map((runId) => ({ verdict: 'claimed', runId })));
      const records = await stage.ledger.readCrons(crons);
      expect(new Set(records.map(({ cursor }) => cursor))).toEqual(new Set([stage.instant(1)]));
      await stage.ledger.confirm(ids);
      expect(await stage.ledger.pending('cron-499')).toEqual([]);
      expect(await stage.ledger.readRun(`cron-499@${stage.instant(1)}`)).toMatchObject({ state: 'enqueued' });
    });

    it('rejects a claim that is none, and no other', async () => {
      const none = { ...base, cron: 'none', generation: Number.NaN };
      const settled = await stage.ledger.claimAll([{ ...base, cron: 'a' }, none, { ...base, cron: 'b' }]);
      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(settled[1]).toHaveProperty('reason', expect.any(RangeError));
      expect(await stage.ledger.readCron('none')).toMatchObject({ cursor: null });
      expect(await stage.ledger.readCron('b')).toMatchObject({ cursor: stage.instant(1) });
    });

    it('answers the same when it is sent again', async () => {
      await stage.ledger.pause('paused', { by: 'ada', reason: 'migration', until: null });
      const requests = [
        { ...base, cron: 'a' },
        { ...base, cron: 'paused' },
        { ...base, cron: 'ranges', skips: [stage.range(-4, 0)], occurrence: null },
      ];
      const replies = await outcomes(requests);
      expect(await outcomes(requests)).toEqual(replies);
      expect(await stage.ledger.skips('paused', 5)).toHaveLength(1);
      expect(await stage.ledger.skips('ranges', 5)).toHaveLength(1);
    });
  });

  describe('readCrons', () => {
    it('answers what readCron answers, in the order given', async () => {
      await stage.ledger.claim(await requestFor('a', { fence: fence(7) }));
      await stage.ledger.claim(await requestFor('b', { generation: 3 }));
      await stage.ledger.pause('b', { by: 'ada', reason: 'migration', until: null });
      const names = ['b', 'unknown', 'a', 'b'];
      const each = await Promise.all(names.map((name) => stage.ledger.readCron(name)));
      expect(await stage.ledger.readCrons(names)).toEqual(each);
      expect(each.map(({ fence: accepted }) => accepted)).toEqual([1_000, 0, 7, 1_000]);
      expect(await stage.ledger.readCrons([])).toEqual([]);
    });
  });

  let base: ClaimRequest;
  beforeEach(async () => {
    base = await stage.request(1);
  });
}
