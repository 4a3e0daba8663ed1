import { describe, expect, it } from 'vitest';
import { NO_FENCE, StaleFenceError, parseFence, type LeaseEvent, type LeaseObserver } from '@fencepost/lease';
import type { FenceGate } from '@fencepost/lease/sinks';

const [OLDER, NEWER] = [parseFence('8000000000000001'), parseFence('8000000000000002')];

/**
 * The one suite that every fence gate passes.
 * @param makeGate an empty one
 */
export function fenceGateContract(
  name: string,
  makeGate: (options?: { readonly downstream?: string; readonly observe?: LeaseObserver }) => FenceGate,
): void {
  describe(`${name} keeps the gate's contract`, () => {
    it('admits the first fence, the same again, and a larger one', async () => {
      const gate = makeGate();
      for (const fence of [OLDER, OLDER, NEWER, NEWER]) {
        await expect(gate.admit('r', fence)).resolves.toBeUndefined();
      }
    });

    it('refuses a smaller one, tells of it, and goes on admitting the larger', async () => {
      const events: LeaseEvent[] = [];
      const gate = makeGate({ downstream: 'mail', observe: (event) => events.push(event) });
      await gate.admit('r', NEWER);
      const refused = new StaleFenceError('r', OLDER, `fence ${NEWER} was admitted`);
      await expect(gate.admit('r', OLDER)).rejects.toThrow(refused);
      expect(events).toEqual([{ name: 'fence.rejected', resource: 'r', downstream: 'mail', fence: OLDER }]);
      await gate.admit('r', NEWER);
    });

    it('keeps resources apart', async () => {
      const gate = makeGate();
      await gate.admit('a', NEWER);
      await expect(gate.admit('b', OLDER)).resolves.toBeUndefined();
    });

    it('refuses what no store issues', async () => {
      await expect(makeGate().admit('r', NO_FENCE)).rejects.toThrow(RangeError);
    });
  });
}
