import { describe, expect, it } from 'vitest';
import { ASK, MINUTE, SUCCEEDED, WatchStage } from './watch-stage.js';

describe('a watched ledger that keeps its word', () => {
  it('is not complained of, and nobody notices the watch', async () => {
    const stage = new WatchStage();
    const first = await stage.running();
    expect(await stage.ledger.beginEffect(first, ASK)).toEqual({ verdict: 'go', unknown: null });
    const second = await stage.takeOver(first);
    expect(await stage.ledger.beginEffect(second, ASK)).toMatchObject({ verdict: 'unknown' });
    expect(await stage.ledger.finishEffect(first, 'ask-mail', { kind: 'done', result: '1' })).toBe('late');
    expect(await stage.ledger.heartbeat(first, MINUTE)).toBe('stale');
    expect(await stage.ledger.finish(first, SUCCEEDED)).toBeNull();
    expect(await stage.ledger.finish(second, SUCCEEDED)).toBe('succeeded');
    stage.watch.check();
    expect(stage.sometimes.counts).toMatchObject({ 'begin: takeover': 1, 'effect: late fact': 1, 'finish: stale': 1 });
  });

  it('may repeat what it has said to the same nonce', async () => {
    const stage = new WatchStage();
    const request = stage.request(1);
    await stage.clock.advance(MINUTE);
    expect(await stage.ledger.claim(request)).toMatchObject({ verdict: 'claimed' });
    expect(await stage.ledger.claim(request)).toMatchObject({ verdict: 'claimed' });
    const attempt = await stage.begin(stage.idOf(1), { nonce: 'n' });
    expect(await stage.begin(stage.idOf(1), { nonce: 'n' })).toEqual(attempt);
    expect(await stage.ledger.finish(attempt, SUCCEEDED)).toBe('succeeded');
    expect(await stage.ledger.finish(attempt, SUCCEEDED)).toBe('succeeded');
    stage.watch.check();
    expect(stage.sometimes.missing()).not.toContain('finish: repeated');
    expect(stage.sometimes.counts).toMatchObject({ 'claim: repeated': 1, 'begin: repeated': 1, 'finish: repeated': 1 });
  });

  it('settles when every instant is accounted for, and nothing is open', async () => {
    const stage = new WatchStage();
    for (let n = 1; n <= 3; n += 1) await stage.ledger.finish(await stage.begin(await stage.claim(n)), SUCCEEDED);
    await stage.clock.advance(MINUTE / 2);
    expect(await stage.settle()).toMatchObject({ instants: 3, runs: 3, attempts: 3, uncertain: 0 });
  });
});
