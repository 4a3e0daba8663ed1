import { beforeEach, describe, expect, it } from 'vitest';
import { ReadGate } from './read-gate.js';

let feed: { storeAnswers: boolean | null };
let gate: ReadGate;
/** Ends those that are worked on. */
let release: () => void;
let slow: Promise<void>;

beforeEach(() => {
  feed = { storeAnswers: true };
  gate = new ReadGate(feed);
  slow = new Promise((resolve) => (release = resolve));
});

const AT_ONCE = 3;
const fill = () => Array.from({ length: AT_ONCE }, () => gate.run(() => slow));
const quick = () => gate.run(() => Promise.resolve('answered'));

describe('the gate before questions', () => {
  it('lets those beyond a few wait', async () => {
    const first = fill();
    const waiting = quick();
    release();
    await Promise.all(first);
    expect(await waiting).toBe('answered');
  });

  it('lets nobody wait while the store does not answer, and goes on when it does', async () => {
    const first = fill();
    const waiting = quick();
    feed.storeAnswers = false;
    await expect(quick()).rejects.toMatchObject({ status: 503, response: { code: 'STORE_AWAY' } });
    release();
    await expect(waiting).rejects.toMatchObject({ status: 503 });
    await Promise.all(first);
    // Somebody has to ask, and what is known may be old.
    expect(await quick()).toBe('answered');
    feed.storeAnswers = true;
    slow = new Promise((resolve) => (release = resolve));
    const again = fill();
    const later = quick();
    release();
    await Promise.all(again);
    expect(await later).toBe('answered');
  });
});
