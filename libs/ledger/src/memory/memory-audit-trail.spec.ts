import { ManualClock } from '@fencepost/lease/testing';
import { expect, it } from 'vitest';
import { auditTrailContract, KEPT } from '../../../../test/contracts/audit-trail.contract.js';
import { MemoryAuditTrail } from './memory-audit-trail.js';

auditTrailContract('the memory audit trail', async () => {
  const clock = new ManualClock();
  const trail = new MemoryAuditTrail({ clock, keep: KEPT });
  return { trail, elsewhere: trail, now: async () => clock.now() };
});

it('lists in order although the clock of the store went back', async () => {
  const clock = new ManualClock();
  const trail = new MemoryAuditTrail({ clock });
  const about = {
    by: 'otto',
    role: 'admin',
    cron: null,
    runId: null,
    before: null,
    after: null,
    reason: null,
    from: 'x',
  };
  await trail.append({ ...about, action: 'first' });
  clock.jumpWall(-60_000);
  const second = await trail.append({ ...about, action: 'second' });
  expect((await trail.list({ limit: 2, before: second.id })).map(({ action }) => action)).toEqual(['first']);
});
