import { describe, expect, it } from 'vitest';
import { Gate } from './etcd-client.js';

describe('a gate', () => {
  it('lets no more in at once than it has places, and everybody in the end', async () => {
    const gate = new Gate(3);
    let inside = 0;
    let most = 0;
    const visit = async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      return true;
    };
    const visits = await Promise.all(Array.from({ length: 20 }, () => gate.through(visit)));
    expect(visits).toEqual(Array(20).fill(true));
    expect(most).toBe(3);
  });

  it('gets its place back from who fails', async () => {
    const gate = new Gate(1);
    await expect(gate.through(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await gate.through(async () => 'in')).toBe('in');
  });
});
