import { Injectable } from '@nestjs/common';
import type { CronHandler } from '../running/delivery.js';
import type { PayloadReader } from '../running/payload-schema.js';

/** How the handlers of this process read their payloads, so that a wrong one is refused before it is enqueued. */
@Injectable()
export class PayloadReaders {
  #handlers: ReadonlyMap<string, CronHandler> = new Map();

  know(handlers: ReadonlyMap<string, CronHandler>): void {
    this.#handlers = handlers;
  }

  of(job: string): PayloadReader | undefined {
    return this.#handlers.get(job)?.readPayload;
  }
}
