import { Inject, Injectable } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { JournalFeed } from '@fencepost/operations/journal';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { currentCaller } from '../auth/caller.js';
import { Refusal } from '../auth/refusals.js';

/** Questions that are answered at once: the same event loop renews leases and claims what is due. */
const AT_ONCE = 3;
const MAX_WAITING_OF_ONE = 50;
const MAX_WAITING = 200;

interface Waiting {
  readonly admit: () => void;
  readonly refuse: (reason: Refusal) => void;
}

/**
 * Bounds how many questions a pod works on at a time. The others wait, and are taken in turn from each caller; beyond a bounded
 * number they are refused, and are to come again. While the store does not answer nobody waits: each place would be taken until
 * a command times out, and whoever comes later would be told nothing at all for that long.
 */
@Injectable()
export class ReadGate {
  #running = 0;
  #waiting = 0;
  readonly #queues = new Map<string, Waiting[]>();

  constructor(@Inject(JournalFeed) private readonly feed: Pick<JournalFeed, 'storeAnswers'>) {}

  /** @throws {Refusal} when too many wait already */
  async run<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    await this.#enter(callerKey());
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(caller: string): Promise<void> {
    if (this.#running < AT_ONCE) {
      this.#running += 1;
      return;
    }
    if (this.feed.storeAnswers === false) throw storeAway();
    const queue = this.#queues.get(caller) ?? [];
    if (queue.length >= MAX_WAITING_OF_ONE) throw tooManyOfOne();
    if (this.#waiting >= MAX_WAITING) throw busy();
    this.#queues.set(caller, queue);
    this.#waiting += 1;
    await new Promise<void>((admit, refuse) => void queue.push({ admit, refuse }));
  }

  /** Its place goes to the next one, of another caller where there is any. */
  #leave(): void {
    if (this.feed.storeAnswers === false) this.#refuseAll();
    const [next] = this.#queues;
    if (!next) {
      this.#running -= 1;
      return;
    }
    const [caller, queue] = next;
    this.#queues.delete(caller);
    const waiting = queue.shift();
    if (queue.length > 0) this.#queues.set(caller, queue);
    this.#waiting -= 1;
    waiting?.admit();
  }

  #refuseAll(): void {
    for (const { refuse } of [...this.#queues.values()].flat()) refuse(storeAway());
    this.#queues.clear();
    this.#waiting = 0;
  }
}

/** Lets a route's handler begin when the gate has room for it. */
@Injectable()
export class ReadGateInterceptor implements NestInterceptor {
  constructor(@Inject(ReadGate) private readonly gate: ReadGate) {}

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return from(this.gate.run(() => lastValueFrom(next.handle())));
  }
}

/** Several people may share a token, and one person may have many connections. */
function callerKey(): string {
  const caller = currentCaller();
  return caller === null ? '' : `${caller.name} ${caller.address}`;
}

function tooManyOfOne(): Refusal {
  return new Refusal(
    429,
    'TOO_MANY_QUESTIONS',
    `Expected at most ${MAX_WAITING_OF_ONE} waiting requests per caller. Retry in a second.`,
  );
}

function busy(): Refusal {
  return new Refusal(
    503,
    'BUSY',
    `Expected at most ${MAX_WAITING} waiting requests on this pod. Retry in a second, or use another pod.`,
  );
}

function storeAway(): Refusal {
  return new Refusal(503, 'STORE_AWAY', 'The store does not answer. Retry when it does.');
}
