import type { Answers } from '@fencepost/client';

/** Hears of a journal that is followed. */
export interface Listener {
  readonly opened: () => void;
  readonly heard: (id: string, entry: Answers['JournalEntry']) => void;
}

/** One server-sent event; an absent field is an empty text. */
export interface ServerSentEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
}

/**
 * The events of a stream as the console writes them: one field a line, an empty line after each event.
 *
 * Source: the HTML standard, section "Server-sent events".
 */
export async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) yield Object.fromEntries(block.split('\n').map(field));
  }
}

function field(line: string): [name: string, value: string] {
  const [name = '', ...value] = line.split(':');
  return [name, value.join(':').replace(/^ /, '')];
}
