import { type JournalEntry } from '@fencepost/operations/journal';
import { presentJournalEntry } from '@fencepost/operations/presenting';
import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import type { WebResponse } from '../http/web-request.js';

/** A page says within two seconds that what it shows may be old, be the pod or its store away; and proxies close what is silent. */
const HEARTBEAT_MS = 500;

/** Who reads so slowly is cut off, and goes on where it was when it comes again: the journal keeps what it has missed. */
const MAX_UNREAD = 1_048_576;

/**
 * Server-sent events for one listener.
 *
 * Source: the HTML standard, section "Server-sent events".
 */
export class EventStream {
  #cancel: CancelTimer = () => {};

  constructor(
    private readonly response: WebResponse,
    private readonly clock: Clock,
    private readonly storeAnswers: () => boolean | null,
  ) {
    response.status(200).set({
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // Of nginx: it would hold the events back until they fill a buffer.
      'X-Accel-Buffering': 'no',
    });
    response.flushHeaders();
    this.#beat();
  }

  tell(entry: JournalEntry): void {
    // JSON has no line breaks of its own, so an entry can't begin another event.
    this.#write(`id: ${entry.id}\nevent: journal\ndata: ${JSON.stringify(presentJournalEntry(entry))}\n\n`);
  }

  close(): void {
    this.#cancel();
    this.response.end();
  }

  #beat(): void {
    this.#write(`event: heartbeat\ndata: ${JSON.stringify({ storeAnswers: this.storeAnswers() })}\n\n`);
    this.#cancel = this.clock.after(HEARTBEAT_MS, () => this.#beat());
  }

  #write(text: string): void {
    if (this.response.writableLength > MAX_UNREAD) this.response.destroy();
    else this.response.write(text);
  }
}
