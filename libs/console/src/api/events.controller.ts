import { Controller, Get, Headers, Inject, Res } from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import { JournalFeed } from '@fencepost/operations/journal';
import type { Clock } from '@fencepost/lease';
import { CLOCK } from '@fencepost/lease/nest';
import type { WebResponse } from '../http/web-request.js';
import { ACCESS, isUnguarded, type Access } from '../auth/access.js';
import { callerHere } from '../auth/caller.js';
import { Needs } from '../auth/fencepost-guard.js';
import { Refusal } from '../auth/refusals.js';
import { EventStream } from './event-stream.js';
import { Describe, Tagged } from './describe-route.js';

/** Each costs a connection and a buffer. */
const MAX_LISTENERS = 500;
/** One caller can't keep the others from listening. */
const MAX_OF_ONE = 50;

/** Tells what happens while it happens. */
@Tagged('deployment')
@Controller('api')
export class EventsController implements OnModuleDestroy {
  readonly #streams = new Map<EventStream, string>();
  @Inject(JournalFeed) private readonly feed!: JournalFeed;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(ACCESS) private readonly access!: Access;

  @Get('events')
  @Needs('viewer')
  @Describe({
    summary:
      'Live journal entries: server-sent events named journal, each a JournalEntry with its id; and two named heartbeat per second, which say whether the store answers.',
    header: { name: 'Last-Event-ID', description: 'Continues after this entry, if it is still kept.' },
    answer: { type: 'text/event-stream', description: 'A stream that does not end.' },
  })
  events(@Headers('last-event-id') after: string | undefined, @Res() response: WebResponse): void {
    // It left while it was found out who it is: nobody would say so a second time.
    if (response.destroyed) return;
    // Who asks for the headers alone hears nothing, and would keep a place for as long as its connection lives.
    if (response.req.method === 'HEAD') return void response.end();
    if (this.#streams.size >= MAX_LISTENERS) {
      throw new Refusal(503, 'BUSY', `Expected at most ${MAX_LISTENERS} listeners. Retry later.`);
    }
    const who = this.#caller();
    if ([...this.#streams.values()].filter((other) => other === who).length >= MAX_OF_ONE) {
      const message = `Expected at most ${MAX_OF_ONE} listeners per caller. Close some of them, then retry.`;
      throw new Refusal(429, 'TOO_MANY_LISTENERS', message);
    }
    const stream = new EventStream(response, this.clock, () => this.feed.storeAnswers);
    const stop = this.feed.subscribe((entry) => stream.tell(entry), after ?? null);
    this.#streams.set(stream, who);
    // Not that of the request: one with a body is closed as soon as that has been read, which is before this.
    response.once('close', () => {
      stop();
      stream.close();
      this.#streams.delete(stream);
    });
  }

  /** A server that closes waits for them; whoever listened connects to another pod. */
  onModuleDestroy(): void {
    for (const stream of this.#streams.keys()) stream.close();
  }

  /** Without tokens everybody has the same name. */
  #caller(): string {
    const { name, address } = callerHere();
    return isUnguarded(this.access) ? address : name;
  }
}
