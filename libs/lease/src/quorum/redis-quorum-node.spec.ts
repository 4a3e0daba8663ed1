import { describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.js';
import { QuorumGate, votesInMs } from './redis-quorum-node.js';

describe('a node that restarted', () => {
  it.each([
    ['waits for the longest ttl', { uptimeSeconds: 0, keepsWrites: false }, 10_000],
    [
      'is believed a second less than it says, because it counts whole ones',
      { uptimeSeconds: 4, keepsWrites: false },
      7_000,
    ],
    ['votes when the longest ttl has passed', { uptimeSeconds: 11, keepsWrites: false }, 0],
    ['votes at once where it can not have forgotten anything', { uptimeSeconds: 0, keepsWrites: true }, 0],
  ])('%s', (_claim, boot, delayMs) => {
    expect(votesInMs(boot, 10_000)).toBe(delayMs);
  });
});

describe('the gate of a node', () => {
  const passes = (gate: QuorumGate) => gate.pass(async () => 'answered');

  it('is closed until the server is known', async () => {
    await expect(passes(new QuorumGate(new ManualClock()))).rejects.toThrow('not connected yet');
  });

  it('opens when it is time', async () => {
    const clock = new ManualClock();
    const gate = new QuorumGate(clock);
    gate.openIn(1_000, 'restarted');
    await clock.advance(999);
    await expect(passes(gate)).rejects.toThrow('restarted');
    await clock.advance(1);
    expect(await passes(gate)).toBe('answered');
  });

  it('does not open for a connection that has ended meanwhile', async () => {
    const clock = new ManualClock();
    const gate = new QuorumGate(clock);
    gate.openIn(1_000, 'restarted');
    gate.close('not connected');
    await clock.advance(2_000);
    await expect(passes(gate)).rejects.toThrow('not connected');
    expect(clock.pending).toBe(0);
  });

  it('closes with the connection it was opened for', async () => {
    const gate = new QuorumGate(new ManualClock());
    gate.openIn(0, '');
    gate.close('not connected');
    await expect(passes(gate)).rejects.toThrow('not connected');
  });
});
