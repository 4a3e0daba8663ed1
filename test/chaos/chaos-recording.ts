import type { ClaimReply } from '@fencepost/ledger';
import { readRecording, type Recording } from './recording.js';

export const RUN = 'tick@1000';

/** One attempt as it proves itself. */
export interface Proof {
  readonly runId: string;
  readonly fence: number;
  readonly nonce: string;
}

export function proof(fence: number): Proof {
  return { runId: RUN, fence, nonce: `n${fence}` };
}

export function claimOf(fence: number, cursor: number | null, scheduledAt: number) {
  const occurrence = { scheduledAt, dueAt: scheduledAt, reason: 'schedule', missed: null };
  return { cron: 'tick', fence, term: `t${fence}`, generation: 1, cursor, skips: [], occurrence, overlap: 'allow' };
}

/** Writes a recording as pods would: each step comes after the one before it, unless it says that it never came back. */
export class Script {
  #at = 0;
  #calls = 0;
  readonly #lines: object[] = [];

  /** @param output what it answered; `undefined` for a process that ended meanwhile */
  call(op: string, input: readonly unknown[], output: unknown): this {
    const done = this.begin(op, input);
    if (output !== undefined) done(output);
    return this;
  }

  /** A call that returns when the function is called that this returns. */
  begin(op: string, input: readonly unknown[]): (output: unknown) => void {
    const call = (this.#calls += 1);
    this.#line({ call, op, input });
    return (output) => this.#line({ return: call, output });
  }

  claim(request: ReturnType<typeof claimOf>, value: ClaimReply | undefined): this {
    return this.call('claimAll', [[request]], value && [{ status: 'fulfilled', value }]);
  }

  attempt(fence: number, attempt: number): this {
    return this.call('begin', [proof(fence)], { verdict: 'begun', fence, attempt, run: {} });
  }

  event(event: string, detail: object): this {
    this.#line({ event, detail });
    return this;
  }

  get recording(): Recording {
    return readRecording(this.#lines.map((line) => JSON.stringify(line)).join('\n'));
  }

  #line(line: object): void {
    this.#at += 1;
    this.#lines.push({ at: this.#at, pod: 'pod', pid: 1, ...line });
  }
}

export const CLAIMED: ClaimReply = { verdict: 'claimed', runId: RUN };
