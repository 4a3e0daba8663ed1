import { occurrenceId } from '@fencepost/ledger/run';
import type { ClaimReply, ClaimRequest } from '@fencepost/ledger';
import type { Operation } from '../support/linearizability.js';
import type { RecordedCall } from './recording.js';
import type { ClaimInput } from './claim-model.js';
import type { RunInput, RunOutput } from './run-model.js';

export type ClaimOperation = Operation<ClaimInput, ClaimReply>;
export type RunOperation = Operation<RunInput, RunOutput>;

/** What was asked of each object of the ledger, and answered: by cron, and by run. */
export interface Histories {
  readonly claims: ReadonlyMap<string, readonly ClaimOperation[]>;
  readonly runs: ReadonlyMap<string, readonly RunOperation[]>;
  /** When workers asked for jobs and never heard which runs, if any, had begun with them: their processes ended before. */
  readonly unheard: readonly number[];
}

type Settled = { readonly status: 'fulfilled'; readonly value: ClaimReply } | { readonly status: 'rejected' };

/** What is known of one call beside what it asks. */
type Interval = Pick<RecordedCall, 'calledAt' | 'returnedAt'>;

/** Sorts recorded calls by the object they change. A call that changes many objects is one operation of each. */
export function historiesOf(calls: readonly RecordedCall[]): Histories {
  const sorter = new Sorter();
  for (const call of calls) sorter.add(call);
  return sorter;
}

class Sorter implements Histories {
  readonly claims = new Map<string, ClaimOperation[]>();
  readonly runs = new Map<string, RunOperation[]>();
  readonly unheard: number[] = [];

  add(call: RecordedCall): void {
    const { op, input, output } = call;
    const [first, second, third] = input;
    if (op === 'turn') this.#turn(call);
    else if (op === 'claim') this.#claim(first as ClaimRequest, output as ClaimReply | undefined, call);
    else if (op === 'claimAll') this.#claimAll(call);
    else if (op === 'confirm') for (const id of first as string[]) this.#run(id, { op: 'confirm' }, call);
    else if (op === 'resolve') this.#run(first as string, { op, request: second } as RunInput, call);
    else if (op === 'cancel') this.#run(first as string, { op }, call);
    else if (op === 'begin') this.#ofRun(first, { op, request: first } as RunInput, call);
    else if (op === 'trigger' || op === 'redeliver') this.#ofRun(first, { op }, call);
    else this.#ofRun(first, { op, attempt: first, what: second, outcome: third } as RunInput, call);
  }

  #turn({ calledAt, returnedAt }: RecordedCall): void {
    if (returnedAt === Infinity) this.unheard.push(calledAt);
  }

  #claimAll({ input, output, calledAt, returnedAt }: RecordedCall): void {
    const replies = output as readonly Settled[] | undefined;
    (input[0] as readonly ClaimRequest[]).forEach((request, index) => {
      const reply = replies?.[index];
      const known = reply?.status === 'fulfilled';
      const interval = { calledAt, returnedAt: known ? returnedAt : Infinity };
      this.#claim(request, known ? reply.value : undefined, interval);
    });
  }

  #claim(request: ClaimRequest, reply: ClaimReply | undefined, { calledAt, returnedAt }: Interval): void {
    const { cron, fence, term, generation, cursor, occurrence, skips, overlap } = request;
    const through = occurrence?.scheduledAt ?? skips.at(-1)?.through ?? 0;
    const input = { fence, term, generation, cursor, through };
    push(this.claims, cron, { input, output: reply, calledAt, returnedAt });
    if (!occurrence) return;
    const runId = occurrenceId({ cron, scheduledAt: through });
    push(this.runs, runId, { input: { op: 'claim' }, output: reply, calledAt, returnedAt });
    // One that comes later may take its place: nobody asks this run then.
    if (reply?.verdict !== 'claimed' || overlap !== 'queue-one') return;
    push(this.runs, runId, { input: { op: 'supersede' }, output: undefined, calledAt, returnedAt: Infinity });
  }

  #ofRun(about: unknown, input: RunInput, call: RecordedCall): void {
    this.#run((about as { readonly runId: string }).runId, input, call);
  }

  #run(runId: string, input: RunInput, { output, calledAt, returnedAt }: RecordedCall): void {
    push(this.runs, runId, { input, output, calledAt, returnedAt });
  }
}

function push<T>(map: Map<string, T[]>, key: string, item: T): void {
  const items = map.get(key);
  if (items) items.push(item);
  else map.set(key, [item]);
}
