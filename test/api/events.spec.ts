import { type Journal } from '@fencepost/operations/journal';
import { JOURNAL } from '@fencepost/operations';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';

let running: RunningApp;
beforeAll(async () => {
  running = await startSchedulerApp();
});
afterAll(() => running.close());

const told = (cron: string) => ({
  ...{ pod: 'p/12345678', role: 'scheduler', event: 'lease.lost' as const, level: 'warn' as const, cron, runId: null },
  detail: { text: 'a line\nid: forged\n\n' },
});

/** Listens until as many events came as were wanted. */
async function hear(count: number, headers: Record<string, string> = {}, ready: () => Promise<void> = async () => {}) {
  const aborter = new AbortController();
  const response = await running.ask('/api/events', { headers, signal: aborter.signal });
  let text = '';
  const decoder = new TextDecoder();
  let begun = false;
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(part, { stream: true });
    if (!begun) await ready();
    begun = true;
    if ((text.match(/^event: journal$/gm) ?? []).length >= count) break;
  }
  aborter.abort();
  const blocks = text.split('\n\n').filter((block) => block.startsWith('id: '));
  return blocks.map((block) => {
    const [id, , data] = block.split('\n').map((line) => line.slice(line.indexOf(': ') + 2));
    return { id: id ?? '', entry: JSON.parse(data ?? '{}') as { cron: string; detail: { text: string } } };
  });
}

it('what comes into the journal is told as it comes, and who was away goes on where it was', async () => {
  const journal = running.app.get<Journal>(JOURNAL, { strict: false });
  await journal.append([told('first')]);
  const before = await journal.head();
  await journal.append([told('a'), told('b'), told('c')]);
  const heard = (await hear(3, { 'last-event-id': before ?? '' })).filter(({ entry }) => /^[abc]$/.test(entry.cron));
  expect(heard.map(({ entry }) => entry.cron)).toEqual(['a', 'b', 'c']);
  const again = await hear(2, { 'last-event-id': heard[0]?.id ?? '' });
  expect(again.slice(0, 2).map(({ entry }) => entry.cron)).toEqual(['b', 'c']);
  // A text with line breaks begins no event of its own.
  expect(heard[0]?.entry.detail.text).toBe('a line\nid: forged\n\n');
});
