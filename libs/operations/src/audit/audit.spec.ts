import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { Account } from '@fencepost/ledger';
import {
  accountOf,
  CRON,
  entryOf,
  generationsOf,
  instantsOf,
  runAt,
  SECOND,
  START,
} from '../../../../test/support/audit-history.js';
import { audit, type AuditOptions } from './audit.js';

const at = (second: number) => START + second * SECOND;

interface Setup {
  readonly entries?: readonly CatalogEntry[];
  readonly account?: Account;
  /** Seconds after the start. */
  readonly now?: number;
  readonly heard?: number | null;
}

/** A store at a moment, and how much is asked of it at once. */
function setup({ entries = [entryOf(generationsOf({ since: START }))], account, now = 65, heard = now }: Setup = {}) {
  const asked: [string, number, number][] = [];
  const all = account ?? accountOf(instantsOf(generationsOf({ since: START }), at(now)));
  const kept = (cron: string) => all.runs.filter((run) => run.cron === cron);
  const ports = {
    clock: new ManualClock(),
    catalog: { read: async () => ({ version: 1, readAt: at(now), entries }) },
    membership: { lastHeard: async () => (heard === null ? null : at(heard)) },
    ledger: {
      account: async (cron: string, from: number, to: number) => {
        asked.push([cron, from, to]);
        const runs = kept(cron).filter(({ scheduledAt }) => scheduledAt >= from && scheduledAt < to);
        return { ...all, runs, skips: all.skips.filter(({ after, through }) => after < to && through >= from) };
      },
    },
  };
  return { ports, asked, audit: (options?: AuditOptions) => audit(ports, options) };
}

describe('an audit', () => {
  it('covers each cron from when on it is known to what was due five seconds ago', async () => {
    const { ports } = setup();
    expect(await audit(ports)).toMatchObject({
      ok: true,
      from: START,
      to: at(60),
      crons: 1,
      instants: 60,
      ran: 60,
      findings: [],
      notCovered: [],
    });
  });

  it('is not in order with one instant missed, doubled or unexplained', async () => {
    const { runs } = accountOf(instantsOf(generationsOf({ since: START }), at(65)));
    const twice = { ...runs[4]!, id: 'again' };
    for (const spoiled of [runs.toSpliced(9, 1), [...runs, twice], [...runs, runAt(at(7.5))]]) {
      const report = await setup({ account: { runs: spoiled, skips: [], forgotten: null } }).audit();
      expect(report.ok).toBe(false);
      expect(report.missed + report.doubled + report.unexplained).toBe(1);
      expect(report.findings).toHaveLength(1);
    }
  });

  it('leaves out what nobody could have fired because no pod was there, and says so', async () => {
    const { runs } = accountOf(instantsOf(generationsOf({ since: START }), at(40)));
    const report = await setup({ account: { runs, skips: [], forgotten: null }, heard: 42 }).audit();
    expect(report).toMatchObject({ ok: true, to: at(40), instants: 40 });
    expect(report.notCovered).toMatchObject([{ cron: null, from: at(40), to: at(60) }]);
    expect(report.notCovered[0]?.text).toContain('last report of a scheduler pod is from 2026-03-02T08:00:42.000Z');
  });

  it('looks no further than the pods can be, whatever is asked for', async () => {
    const report = await setup().audit({ from: at(50), to: at(3_600) });
    expect(report).toMatchObject({ from: at(50), to: at(60), instants: 11 });
    expect(report.notCovered).toMatchObject([{ to: at(3_600) }]);
  });

  it('leaves out an instant that a spread puts off to after the end', async () => {
    const spread = generationsOf({ since: START, expression: '*/10 * * * * *', spreadMs: 9_000 });
    const account = accountOf(instantsOf(spread, at(60)));
    const report = await setup({ entries: [entryOf(spread)], account }).audit();
    expect(report).toMatchObject({ ok: true, instants: 5 });
  });

  it('is of those crons that are asked for, and refuses one that is not there', async () => {
    const other = entryOf(generationsOf({ since: at(30), name: 'other' }));
    const { ports } = setup({ entries: [entryOf(generationsOf({ since: START })), other] });
    expect(await audit(ports)).toMatchObject({ crons: 2, ok: false, missed: 30 });
    expect(await audit(ports, { crons: [CRON, CRON] })).toMatchObject({ crons: 1, ok: true });
    await expect(audit(ports, { crons: ['tock'] })).rejects.toThrow('names of crons of the catalog, got "tock"');
    await expect(audit(ports, { from: 0.5 })).rejects.toThrow(RangeError);
    await expect(audit(ports, { to: Number.NaN })).rejects.toThrow(RangeError);
  });
});

describe('what a ledger has forgotten', () => {
  const { runs } = accountOf(instantsOf(generationsOf({ since: START }), at(65)));

  it('is not missed: the audit begins after it, and says so', async () => {
    const report = await setup({ account: { runs: runs.slice(35), skips: [], forgotten: at(35) } }).audit();
    expect(report).toMatchObject({ ok: true, instants: 25, ran: 25 });
    expect(report.notCovered).toMatchObject([{ cron: CRON, from: START + 1, to: at(35) }]);
    expect(report.notCovered[0]?.text).toContain('the ledger no longer keeps all of its records');
  });

  it('hides nothing that is missed later', async () => {
    const report = await setup({ account: { runs: runs.slice(36), skips: [], forgotten: at(35) } }).audit();
    expect(report).toMatchObject({ ok: false, missed: 1, findings: [{ instant: at(36) }] });
  });

  it('is not missed when it is forgotten while the audit reads', async () => {
    const now = 2 * 3_600 + 5;
    const whole = accountOf(instantsOf(generationsOf({ since: START }), at(now)));
    const { ports, asked } = setup({ account: whole, now });
    const { account } = ports.ledger;
    ports.ledger.account = async (...words) => {
      const answer = await account(...words);
      if (asked.length === 1) return answer;
      return { ...answer, runs: answer.runs.slice(100), forgotten: words[1] + 100 * SECOND };
    };
    expect(await audit(ports)).toMatchObject({ ok: true, missed: 0 });
  });
});
