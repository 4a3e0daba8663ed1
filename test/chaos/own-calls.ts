import type { Ledger } from '@fencepost/ledger';
import type { RecordedCall } from './recording.js';

/** A ledger whose `resolve` is recorded as the pods record theirs: who answers has a part in the history too. */
export class OwnCalls {
  readonly calls: RecordedCall[] = [];

  over(ledger: Ledger): Ledger {
    const resolve: Ledger['resolve'] = async (...input) => {
      const calledAt = now();
      const call = { process: 'oracle', op: 'resolve', input, calledAt };
      try {
        const output = await ledger.resolve(...input);
        this.calls.push({ ...call, output, returnedAt: now() });
        return output;
      } catch (error) {
        this.calls.push({ ...call, output: undefined, returnedAt: Infinity });
        throw error;
      }
    };
    return new Proxy(ledger, {
      get: (target, key) => {
        if (key === 'resolve') return resolve;
        const member: unknown = Reflect.get(target, key, target);
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
  }
}

/** Of the clock that recorders read, in microseconds. */
export function now(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}
