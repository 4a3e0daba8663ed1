import { describe, expect, it } from 'vitest';
import { libraryVersion } from './library-version.js';
import { watchLoopLag } from './loop-lag.js';

/** Keeps the event loop from turning. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Twice: what is due after a block comes in the next turn, and the rest of this one comes before. */
async function turns(): Promise<void> {
  for (let n = 0; n < 2; n += 1) await new Promise<void>((resolve) => void setImmediate(resolve));
}

describe('the lag of the event loop', () => {
  it('is that of the time since it was asked last, without the time that the monitor means to wait', async () => {
    const lag = watchLoopLag();
    await expect
      .poll(async () => {
        block(120);
        await turns();
        return lag.take();
      })
      .toBeGreaterThan(60);
    // Nothing was looked at since.
    expect(lag.take()).toBe(0);
    lag.stop();
  });

  it('is looked at no more when it has ended', async () => {
    const lag = watchLoopLag();
    lag.stop();
    lag.take();
    block(60);
    await turns();
    expect(lag.take()).toBe(0);
  });
});

describe('the version of the library', () => {
  it('is what its package says', () => {
    expect(libraryVersion()).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('is unknown where there is no such file, or another one', () => {
    expect(libraryVersion(new URL('./nowhere.json', import.meta.url))).toBe('unknown');
    expect(libraryVersion(new URL(import.meta.url))).toBe('unknown');
  });
});
