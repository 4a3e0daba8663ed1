import { SetupError } from '@fencepost/lease';
import { describe, expect, it, vi } from 'vitest';
import { insist } from './insist.js';

describe('insisting on an answer', () => {
  it('asks again after an answer that did not come, five times at most', async () => {
    const lateTwice = vi.fn<() => Promise<string>>().mockResolvedValue('an answer');
    lateTwice
      .mockRejectedValueOnce(new Error('Command timed out'))
      .mockRejectedValueOnce(new Error('Command timed out'));
    expect(await insist(lateTwice)).toBe('an answer');
    expect(lateTwice).toHaveBeenCalledTimes(3);

    const never = vi.fn<() => Promise<string>>().mockRejectedValue(new Error('Command timed out'));
    await expect(insist(never)).rejects.toThrowError('Command timed out');
    expect(never).toHaveBeenCalledTimes(5);
  });

  it('takes a refusal for an answer', async () => {
    const refused = vi.fn<() => Promise<string>>().mockRejectedValue(new SetupError('No.'));
    await expect(insist(refused)).rejects.toThrowError('No.');
    expect(refused).toHaveBeenCalledTimes(1);
  });
});
