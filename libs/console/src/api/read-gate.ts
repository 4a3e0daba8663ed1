import { Inject, Injectable } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { currentCaller } from '../auth/caller.js';
import { Refusal } from '../auth/refusals.js';

/** Questions that are answered at once: the same event loop renews leases and claims what is due. */
const AT_ONCE = 3;
const MAX_WAITING_OF_ONE = 50;
const MAX_WAITING = 200;

type Admit = () => void;

/**
 * Bounds how many questions a pod works on at a time. The others wait, and are taken in turn from each caller; beyond a bounded
 * number they are refused, and are to come again.
 */
@Injectable()
export class ReadGate {
  #running = 0;
  #waiting = 0;
  readonly #queues = new Map<string, Admit[]>();

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
    const queue = this.#queues.get(caller) ?? [];
    if (queue.length >= MAX_WAITING_OF_ONE) throw tooManyOfOne();
    if (this.#waiting >= MAX_WAITING) throw busy();
    this.#queues.set(caller, queue);
    this.#waiting += 1;
    await new Promise<void>((admit) => void queue.push(admit));
  }

  /** Its place goes to the next one, of another caller where there is any. */
  #leave(): void {
    const [next] = this.#queues;
    if (!next) {
      this.#running -= 1;
      return;
    }
    const [caller, queue] = next;
    this.#queues.delete(caller);
    const admit = queue.shift();
    if (queue.length > 0) this.#queues.set(caller, queue);
    this.#waiting -= 1;
    admit?.();
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
