import { describe, expect, it, vi } from 'vitest';
import { another, oneCron, ran } from '../../../../test/support/planning-stage.js';
import type { HeldCron } from './held-cron.js';

/** So many crons that fire each second, in their first second; nothing is due of those that `calm` names. */
async function manyCrons(count: number, calm: readonly number[] = []) {
  const { stage, at, dispatch } = await oneCron();
  const crons = Array.from({ length: count }, (_, n): HeldCron => {
    return another(stage, { name: `cron-${n}`, ...(calm.includes(n) && { expression: '*/5 * * * * *' }) });
  });
  const calls = (what: string) => [...stage.ledger.calls, ...stage.queue.calls].filter((call) => call === what).length;
  return { stage, at, crons, calls, dispatch: () => dispatch(...crons) };
}

function held() {
  let release = () => {};
  const heldBack = new Promise<void>((resolve) => (release = resolve));
  return { heldBack, release: () => release() };
}

describe('the dispatcher, of many crons', () => {
  it('claims, enqueues and confirms 250 of them in one call each', async () => {
    const { stage, at, dispatch } = await manyCrons(250);
    expect(await dispatch()).toEqual(Array.from({ length: 250 }, () => ({ lookAt: at(2) })));
    expect(stage.ledger.calls).toEqual(['claimAll', 'confirm']);
    expect(stage.queue.calls).toEqual(['enqueue']);
  });

  it('has enqueued and confirmed the first ones while the next are being claimed', async () => {
    const { stage, calls, dispatch } = await manyCrons(251);
    const answer = held();
    const real = stage.memoryLedger.claimAll.bind(stage.memoryLedger);
    const late = async (requests: Parameters<typeof real>[0]) => answer.heldBack.then(() => real(requests));
    vi.spyOn(stage.memoryLedger, 'claimAll').mockImplementationOnce(real).mockImplementationOnce(late);
    const dispatched = dispatch();
    await vi.waitFor(() => expect(calls('confirm')).toBe(1));
    expect(await ran(stage, 'cron-249')).toEqual([1]);
    expect(await ran(stage, 'cron-250')).toEqual([]);
    answer.release();
    expect(await dispatched).toHaveLength(251);
    expect(await ran(stage, 'cron-250')).toEqual([1]);
    expect(calls('enqueue')).toBe(2);
  });

  it.each(['enqueue', 'confirm', 'claimAll'] as const)('counts as failed only those whose %s failed', async (step) => {
    const { stage, dispatch } = await manyCrons(501);
    if (step === 'enqueue') stage.queue.next(step, { heldBack: Promise.resolve() }, 'fail');
    else stage.ledger.next(step, { heldBack: Promise.resolve() }, 'fail');
    const answers = await dispatch();
    const failed = answers.flatMap((one, n) => ('failed' in one ? [n] : []));
    expect([failed[0], failed.length, failed.at(-1)]).toEqual([250, 250, 499]);
  });
});
