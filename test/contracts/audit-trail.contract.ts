import { describe, expect, it } from 'vitest';
import { OperatorInputError } from '@fencepost/ledger';
import type { AuditTrail, NewAuditRecord } from '@fencepost/ledger/audit-trail';

/** What a trail's spec has to offer, so that the contract can drive it. */
export interface AuditTrailHarness {
  /** Empty, and nobody else's; keeps {@link KEPT} records. */
  readonly trail: AuditTrail;
  /** The same store, as another process sees it. */
  readonly elsewhere: AuditTrail;
  /** The store's clock, epoch milliseconds. */
  readonly now: () => Promise<number>;
}

/** Small, so that a test gets beyond it. */
export const KEPT = 5;

const RECORD: NewAuditRecord = {
  by: 'otto',
  role: 'operator',
  action: 'pause',
  cron: 'report',
  runId: null,
  before: { paused: null },
  after: { paused: { until: null } },
  reason: 'the printer burns',
  from: 'cli host-1',
};

/** The one suite that every audit trail passes. */
export function auditTrailContract(name: string, makeHarness: () => Promise<AuditTrailHarness>): void {
  describe(`${name} keeps the audit trail contract`, () => {
    appending(makeHarness);
    listing(makeHarness);
    keeping(makeHarness);
    taking(makeHarness);
  });
}

function appending(makeHarness: () => Promise<AuditTrailHarness>): void {
  it('keeps all of a record, with the clock of the store', async () => {
    const { trail, elsewhere, now } = await makeHarness();
    const before = await now();
    const added = await trail.append(RECORD);
    expect(added).toMatchObject(RECORD);
    expect(added.at).toBeGreaterThanOrEqual(before);
    expect(added.at).toBeLessThanOrEqual(await now());
    expect(await elsewhere.list({ limit: 10 })).toEqual([added]);
  });

  it('keeps one record of an order whose reply got lost', async () => {
    const { trail, elsewhere } = await makeHarness();
    const first = await trail.append(RECORD, 'nonce-1');
    await trail.append({ ...RECORD, action: 'resume' }, 'nonce-2');
    expect((await elsewhere.append(RECORD, 'nonce-1')).id).toBe(first.id);
    expect((await trail.list({ limit: 10 })).map(({ action }) => action)).toEqual(['resume', 'pause']);
  });

  it('keeps no secret, and no payload', async () => {
    const { trail } = await makeHarness();
    const secrets = { password: 'hunter2', url: 'postgres://otto:hunter2@db/shop', nested: [{ token: 'hunter2' }] };
    await trail.append({ ...RECORD, before: secrets, after: { payload: { card: 'hunter2' } } });
    expect(JSON.stringify(await trail.list({ limit: 1 }))).not.toContain('hunter2');
  });
}

function listing(makeHarness: () => Promise<AuditTrailHarness>): void {
  it('lists the newest first, and goes on before any of them', async () => {
    const { trail } = await makeHarness();
    for (const action of ['one', 'two', 'three']) await trail.append({ ...RECORD, action });
    const [newest, ...older] = await trail.list({ limit: 10 });
    expect([newest, ...older].map((record) => record?.action)).toEqual(['three', 'two', 'one']);
    expect(await trail.list({ limit: 10, before: newest?.id ?? '' })).toEqual(older);
    expect(await trail.list({ limit: 1 })).toEqual([newest]);
  });

  it('lists what was done to one cron and to its runs', async () => {
    const { trail } = await makeHarness();
    await trail.append({ ...RECORD, action: 'pause' });
    await trail.append({ ...RECORD, action: 'cancel', cron: null, runId: 'report@1763607600000' });
    await trail.append({ ...RECORD, action: 'pause', cron: 'report-2' });
    await trail.append({ ...RECORD, action: 'cancel', cron: null, runId: 'report-2@1763607600000' });
    const listed = await trail.list({ limit: 10, cron: 'report' });
    expect(listed.map(({ action }) => action)).toEqual(['cancel', 'pause']);
    expect(await trail.list({ limit: 1, cron: 'report' })).toEqual(listed.slice(0, 1));
    expect(await trail.list({ limit: 10, cron: 'report', before: listed[0]?.id ?? '' })).toEqual(listed.slice(1));
  });

  it('lists an order to many under each of them', async () => {
    const { trail } = await makeHarness();
    const many = { ...RECORD, cron: null, crons: ['invoice', 'report'], reason: 'all of "crons":["report-2"]\u0000' };
    await trail.append({ ...RECORD, cron: null, after: { crons: ['report-2'] } });
    const added = await trail.append(many);
    expect(added).toMatchObject(many);
    expect(await trail.list({ limit: 10, cron: 'report' })).toEqual([added]);
    expect(await trail.list({ limit: 10, cron: 'invoice' })).toEqual([added]);
    expect(await trail.list({ limit: 10, cron: 'report-2' })).toEqual([]);
  });

  it.each([{ limit: 0 }, { limit: 1_001 }, { limit: 1.5 }, { limit: 1, before: 'yesterday' }])(
    'refuses %j',
    async (query) => {
      const { trail } = await makeHarness();
      await expect(trail.list(query)).rejects.toThrow(OperatorInputError);
    },
  );
}

function keeping(makeHarness: () => Promise<AuditTrailHarness>): void {
  it('forgets the oldest', async () => {
    const { trail } = await makeHarness();
    for (let n = 1; n <= KEPT + 2; n += 1) await trail.append({ ...RECORD, action: `order-${n}` });
    const listed = await trail.list({ limit: 100 });
    expect(listed).toHaveLength(KEPT);
    expect(listed.at(-1)?.action).toBe('order-3');
  });
}

function taking(makeHarness: () => Promise<AuditTrailHarness>): void {
  const actions = (records: readonly NewAuditRecord[]) => records.map(({ action }) => action);

  it('hands each record to one caller, the oldest first', async () => {
    const { trail, elsewhere } = await makeHarness();
    expect(await trail.take('take-1')).toEqual([]);
    const one = await trail.append({ ...RECORD, action: 'one' });
    const two = await elsewhere.append({ ...RECORD, action: 'two' });
    expect(await elsewhere.take('take-2')).toEqual([one, two]);
    expect(await trail.take('take-3')).toEqual([]);
    await trail.append({ ...RECORD, action: 'three' });
    const taken = await Promise.all([trail.take('take-4'), elsewhere.take('take-5')]);
    expect(actions(taken.flat())).toEqual(['three']);
  });

  it('hands out none of the records that were there before anybody asked', async () => {
    const { trail } = await makeHarness();
    for (const action of ['one', 'two']) await trail.append({ ...RECORD, action });
    expect(await trail.take('take-1')).toEqual([]);
    await trail.append({ ...RECORD, action: 'three' });
    expect(actions(await trail.take('take-2'))).toEqual(['three']);
  });

  it('hands the same records to a call whose reply got lost', async () => {
    const { trail, elsewhere } = await makeHarness();
    await trail.take('take-1');
    await trail.append(RECORD);
    const taken = await trail.take('take-2');
    expect(taken).toHaveLength(1);
    expect(await elsewhere.take('take-3')).toEqual([]);
    expect(await trail.take('take-2')).toEqual(taken);
  });

  it('goes on after records that were forgotten before anybody took them', async () => {
    const { trail } = await makeHarness();
    await trail.take('take-1');
    for (let n = 1; n <= KEPT + 2; n += 1) await trail.append({ ...RECORD, action: `order-${n}` });
    expect(actions(await trail.take('take-2'))).toEqual(Array.from({ length: KEPT }, (_, n) => `order-${n + 3}`));
    expect(await trail.take('take-3')).toEqual([]);
  });
}
