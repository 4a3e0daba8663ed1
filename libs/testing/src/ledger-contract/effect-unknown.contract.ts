import { beforeEach, describe, expect, it } from 'vitest';
import type { AttemptRef, BeginEffectReply } from '@fencepost/ledger';
import type { EffectRecord } from '@fencepost/ledger/run';
import { Stage, type MakeLedgerHarness } from './stage.js';

const GO = { verdict: 'go', unknown: null };
const TELL = { ifUnknown: 'tell' } as const;

/** How long ago it was differs between two calls. */
function ageless(reply: BeginEffectReply): unknown {
  const unknown = 'unknown' in reply ? reply.unknown : null;
  return unknown === null ? reply : { ...reply, unknown: { ...unknown, ageMs: 0 } };
}

/** What is known of an effect that was begun and never ended, and how that ends. */
export function unknownEffectContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  let first: AttemptRef;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
    first = await stage.begun(await stage.enqueued(1));
  });

  async function recorded(name = 'mail'): Promise<EffectRecord | undefined> {
    return (await stage.ledger.effects(first.runId)).find((effect) => effect.name === name);
  }

  describe('an effect whose outcome is unknown', () => {
    it('is told with since when, how long ago, and the hash of what was sent', async () => {
      const before = await stage.harness.now();
      await stage.beginEffect(first, 'mail', { payloadHash: 'h1' });
      const after = await stage.harness.now();
      const second = await stage.takeover(first);
      await stage.harness.advance(3);
      const reply = await stage.beginEffect(second, 'mail', { payloadHash: 'h1' });
      const unknown = reply.verdict === 'go' ? reply.unknown : null;
      expect(unknown).toEqual({ since: expect.any(Number), ageMs: expect.any(Number), payloadHash: 'h1' });
      expect(unknown?.since).toBeGreaterThanOrEqual(before);
      expect(unknown?.since).toBeLessThanOrEqual(after);
      expect(unknown?.ageMs).toBeGreaterThanOrEqual(3);
    });

    it('is not begun when the request says so: nothing is written', async () => {
      await stage.beginEffect(first, 'mail', TELL);
      const second = await stage.takeover(first);
      const before = await stage.ledger.effects(first.runId);
      const reply = await stage.beginEffect(second, 'mail', TELL);
      expect(reply).toMatchObject({ verdict: 'unknown', unknown: { payloadHash: null } });
      expect(await stage.ledger.effects(first.runId)).toEqual(before);
    });

    it('gives whoever was only told no right to report late', async () => {
      await stage.beginEffect(first, 'mail');
      const second = await stage.takeover(first);
      await stage.beginEffect(second, 'mail', TELL);
      const third = await stage.takeover(second);
      expect(await stage.finishEffect(second, 'mail', '1')).toBe('stale');
      expect(await stage.beginEffect(third, 'mail', TELL)).toMatchObject({ verdict: 'unknown' });
    });

    it('gives whoever began it again the right to report late', async () => {
      await stage.beginEffect(first, 'mail');
      const second = await stage.takeover(first);
      await stage.beginEffect(second, 'mail');
      const third = await stage.takeover(second);
      expect(await stage.finishEffect(second, 'mail', '2')).toBe('late');
      expect(await stage.beginEffect(third, 'mail')).toMatchObject({ verdict: 'done', result: '2' });
    });

    it.each(['go', 'tell'] as const)('gets the same answer when the call is sent again (%s)', async (ifUnknown) => {
      await stage.beginEffect(first, 'mail', { ifUnknown, payloadHash: 'h1' });
      expect(await stage.beginEffect(first, 'mail', { ifUnknown, payloadHash: 'h1' })).toEqual(GO);
      const second = await stage.takeover(first);
      const reply = await stage.beginEffect(second, 'mail', { ifUnknown, payloadHash: 'h1' });
      const again = await stage.beginEffect(second, 'mail', { ifUnknown, payloadHash: 'h1' });
      expect(ageless(again)).toEqual(ageless(reply));
    });

    it('may be told first, and begun by the same attempt once it has looked', async () => {
      await stage.beginEffect(first, 'mail');
      const second = await stage.takeover(first);
      expect(await stage.beginEffect(second, 'mail', TELL)).toMatchObject({ verdict: 'unknown' });
      expect(await stage.beginEffect(second, 'mail')).toMatchObject({ verdict: 'go', unknown: { payloadHash: null } });
      expect(await stage.finishEffect(second, 'mail', '1')).toBe('recorded');
    });

    it('is unknown to a successor also when its worker failed and the run was tried again', async () => {
      await stage.beginEffect(first, 'mail');
      await stage.ledger.finish(first, { kind: 'retry', error: 'again', delayMs: 0 });
      const second = await stage.begun(first.runId);
      expect(await stage.beginEffect(second, 'mail', TELL)).toMatchObject({ verdict: 'unknown' });
    });
  });

  describe('an effect that is begun with something else than before', () => {
    it.each(['go', 'tell'] as const)('is not begun, whatever the request says (%s)', async (ifUnknown) => {
      await stage.beginEffect(first, 'mail', { payloadHash: 'h1' });
      const second = await stage.takeover(first);
      const before = await stage.ledger.effects(first.runId);
      const reply = await stage.beginEffect(second, 'mail', { ifUnknown, payloadHash: 'h2' });
      expect(reply).toMatchObject({ verdict: 'unknown', unknown: { payloadHash: 'h1' } });
      expect(await stage.ledger.effects(first.runId)).toEqual(before);
      const third = await stage.takeover(second);
      expect(await stage.finishEffect(second, 'mail', '1')).toBe('stale');
      expect(await stage.beginEffect(third, 'mail', { payloadHash: 'h1' })).toMatchObject({ verdict: 'go' });
    });

    it.each([
      ['h1', null],
      [null, 'h2'],
      [null, null],
    ])('is begun where one of the two hashes is not known (%s, %s)', async (then, now) => {
      await stage.beginEffect(first, 'mail', { payloadHash: then });
      const second = await stage.takeover(first);
      const reply = await stage.beginEffect(second, 'mail', { payloadHash: now });
      expect(reply).toMatchObject({ verdict: 'go', unknown: { payloadHash: then } });
    });

    it('gets its recorded result when it is done, with the hash it was done with', async () => {
      await stage.beginEffect(first, 'mail', { payloadHash: 'h1' });
      await stage.finishEffect(first, 'mail', '7');
      const second = await stage.takeover(first);
      const done = { verdict: 'done', result: '7', payloadHash: 'h1' };
      expect(await stage.beginEffect(second, 'mail', { payloadHash: 'h2' })).toEqual(done);
    });
  });

  describe('an effect that failed', () => {
    it('is begun anew: nothing of it is unknown any more', async () => {
      await stage.beginEffect(first, 'mail', { payloadHash: 'h1' });
      const { since = 0 } = (await recorded()) ?? {};
      expect(await stage.failEffect(first, 'mail', 'no such address')).toBe('recorded');
      const failed = { state: 'failed', error: 'no such address', result: null, finishedAt: expect.any(Number) };
      expect(await recorded()).toMatchObject(failed);
      const second = await stage.takeover(first);
      await stage.harness.advance(2);
      expect(await stage.beginEffect(second, 'mail', { ...TELL, payloadHash: 'h2' })).toEqual(GO);
      const anew = await recorded();
      const begun = { state: 'begun', error: null, finishedAt: null, fence: second.fence, payloadHash: 'h2' };
      expect(anew).toMatchObject(begun);
      expect(anew?.since).toBeGreaterThan(since);
    });

    it('never takes the place of a done', async () => {
      await stage.beginEffect(first, 'mail');
      await stage.finishEffect(first, 'mail', '1');
      expect(await stage.failEffect(first, 'mail')).toBe('known');
      const second = await stage.takeover(first);
      expect(await stage.failEffect(second, 'mail')).toBe('known');
      expect(await stage.beginEffect(second, 'mail')).toMatchObject({ verdict: 'done', result: '1' });
    });

    it('is refused from a stale attempt, and what is unknown stays so', async () => {
      await stage.beginEffect(first, 'mail');
      const second = await stage.takeover(first);
      expect(await stage.failEffect(first, 'mail')).toBe('stale');
      expect(await stage.failEffect({ ...second, nonce: 'another' }, 'mail')).toBe('stale');
      expect(await stage.refusals()).toBe(2);
      expect(await stage.beginEffect(second, 'mail', TELL)).toMatchObject({ verdict: 'unknown' });
    });

    it('is done all the same when the word of an earlier attempt comes late', async () => {
      await stage.beginEffect(first, 'mail');
      const second = await stage.takeover(first);
      await stage.failEffect(second, 'mail', 'found nothing');
      expect(await stage.finishEffect(first, 'mail', '1')).toBe('late');
      expect(await stage.beginEffect(second, 'mail')).toMatchObject({ verdict: 'done', result: '1' });
      expect(await recorded()).toMatchObject({ state: 'done', error: null, result: '1', fence: first.fence });
    });
  });
}
