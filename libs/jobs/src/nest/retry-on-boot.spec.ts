import { SetupError } from '@fencepost/lease';
import { describe, expect, it, vi } from 'vitest';
import { retryOnBoot } from './retry-on-boot.js';

describe('insisting on an answer', () => {
  it('asks again after an answer that did not come, five times at most', async () => {
    const lateTwice = vi.fn<() => Promise<string>>().mockResolvedValue('an answer');
    lateTwice
      .mockRejectedValueOnce(new Error('Command timed out'))
      .mockRejectedValueOnce(new Error('Command timed out'));
    expect(await retryOnBoot(lateTwice)).toBe('an answer');
    expect(lateTwice).toHaveBeenCalledTimes(3);

    const never = vi.fn<() => Promise<string>>().mockRejectedValue(new Error('Command timed out'));
    await expect(retryOnBoot(never)).rejects.toThrowError('Command timed out');
    expect(never).toHaveBeenCalledTimes(5);
  });

  it('takes a refusal for an answer', async () => {
    const refused = vi.fn<() => Promise<string>>().mockRejectedValue(new SetupError('No.'));
    await expect(retryOnBoot(refused)).rejects.toThrowError('No.');
    expect(refused).toHaveBeenCalledTimes(1);
  });
});
