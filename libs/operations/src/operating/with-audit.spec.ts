import { hostname } from 'node:os';
import { StoreAwayError } from '@fencepost/lease';
import { describe, expect, it } from 'vitest';
import { OperatorInputError } from '@fencepost/ledger';
import { RedisAuditTrail } from '@fencepost/ledger/audit-trail';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { AuditNotWrittenError, withAudit, withOwnAudit } from './with-audit.js';

const ORDER = {
  ...{ by: 'otto', role: 'operator', from: 'cli host-1', action: 'pause', reason: 'it burns' },
  ...{ cron: 'report', runId: null, before: { paused: null } },
};

class Away extends StoreAwayError {
  readonly code = 'AWAY';
}

const spaces = redisSpaces();

function stage() {
  return new RedisAuditTrail({ redis: spaces.redis(), ...spaces.fresh() });
}

describe('an order with an audit record', () => {
  it('leaves who gave it, why, from where, and what was there before and after', async () => {
    const trail = stage();
    expect(await withAudit(trail, ORDER, async () => ({ until: 5 }))).toEqual({ until: 5 });
    expect(await trail.list({ limit: 10 })).toMatchObject([{ ...ORDER, after: { until: 5 } }]);
  });

  it('leaves nothing when its result says that nothing was changed', async () => {
    const trail = stage();
    const order = { ...ORDER, changed: (verdict: string) => verdict === 'cancelled' };
    expect(await withAudit(trail, order, async () => 'missing')).toBe('missing');
    expect(await trail.list({ limit: 10 })).toEqual([]);
    await withAudit(trail, order, async () => 'cancelled');
    expect(await trail.list({ limit: 10 })).toHaveLength(1);
  });

  it('leaves nothing when it was refused: nothing was changed', async () => {
    const trail = stage();
    const refused = withAudit(trail, ORDER, () => Promise.reject(new OperatorInputError('no')));
    await expect(refused).rejects.toThrow(OperatorInputError);
    expect(await trail.list({ limit: 10 })).toEqual([]);
  });

  it.each([new Error('Connection is closed.'), new Away('the store is away')])(
    'leaves that it failed with %s: it may have happened',
    async (failure) => {
      const trail = stage();
      await expect(withAudit(trail, ORDER, () => Promise.reject(failure))).rejects.toBe(failure);
      const [record] = await trail.list({ limit: 10 });
      expect(record).toMatchObject({
        action: 'pause',
        after: { error: expect.stringContaining(failure.message) as string },
      });
    },
  );

  it('that is done and can not be recorded says so, and is not called refused', async () => {
    const trail = { append: () => Promise.reject(new Error('Connection is closed.')) };
    const told = await withAudit(trail, ORDER, async () => 1).catch((error: unknown) => error);
    expect(told).toBeInstanceOf(AuditNotWrittenError);
    expect((told as Error).message).toContain('was executed');
  });
});

describe("an order of a program's own code", () => {
  const own = { by: 'deploy', action: 'resume', reason: null, cron: 'report', runId: null };

  it('leaves a record that says which host it came from', async () => {
    const trail = stage();
    expect(await withOwnAudit(trail, own, async () => 1)).toBe(1);
    expect(await trail.list({ limit: 10 })).toMatchObject([{ ...own, role: 'app', from: `app ${hostname()}` }]);
  });

  it('leaves none as part of an order that leaves one', async () => {
    const trail = stage();
    await withAudit(trail, ORDER, () => withOwnAudit(trail, own, async () => 1));
    expect(await trail.list({ limit: 10 })).toMatchObject([ORDER]);
  });
});
