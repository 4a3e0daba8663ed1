import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { MicroBatcher } from './micro-batcher.js';

/** A store that answers when it is told to. */
function slowStore() {
  const sent: (readonly number[])[] = [];
  const waiting: { readonly answer: () => void; readonly fail: (error: Error) => void }[] = [];
  const send = (items: readonly number[]) => {
    sent.push(items);
    return new Promise<number[]>((resolve, reject) => {
      waiting.push({ answer: () => resolve(items.map((item) => item * 10)), fail: reject });
    });
  };
  return { sent, send, answer: () => waiting.shift()?.answer(), fail: (error: Error) => waiting.shift()?.fail(error) };
}

const echo = (sent: (readonly number[])[]) => async (items: readonly number[]) => {
  sent.push(items);
  return items;
};

describe('a batch of one turn', () => {
  it('sends the calls of one turn together, and answers each of them', async () => {
    const sent: (readonly number[])[] = [];
    const batch = new MicroBatcher({ send: echo(sent), most: 10, inFlight: 1 });
    expect(await Promise.all([1, 2, 3].map((item) => batch.ask(item)))).toEqual([1, 2, 3]);
    expect(sent).toEqual([[1, 2, 3]]);
  });

  it('takes those with it that are made while promises of the same turn go on', async () => {
    const sent: (readonly number[])[] = [];
    const batch = new MicroBatcher({ send: echo(sent), most: 10, inFlight: 1 });
    const later = async (item: number) => {
      await Promise.resolve();
      return batch.ask(item);
    };
    await Promise.all([batch.ask(1), later(2)]);
    expect(sent).toEqual([[1, 2]]);
  });

  it('sends no more at once than it may', async () => {
    const sent: (readonly number[])[] = [];
    const batch = new MicroBatcher({ send: echo(sent), most: 2, inFlight: 9 });
    await Promise.all([1, 2, 3, 4, 5].map((item) => batch.ask(item)));
    expect(sent).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('lets what comes wait while as many batches are on their way as may be, and go together then', async () => {
    const store = slowStore();
    const batch = new MicroBatcher({ send: store.send, most: 10, inFlight: 1 });
    const first = batch.ask(1);
    await nextTurn();
    const second = batch.ask(2);
    await nextTurn();
    const third = batch.ask(3);
    await nextTurn();
    expect(store.sent).toEqual([[1]]);
    store.answer();
    expect(await first).toBe(10);
    await nextTurn();
    expect(store.sent).toEqual([[1], [2, 3]]);
    store.answer();
    expect(await Promise.all([second, third])).toEqual([20, 30]);
  });

  it('waits for the end of a turn that goes on while another batch comes back', async () => {
    const store = slowStore();
    const batch = new MicroBatcher({ send: store.send, most: 10, inFlight: 1 });
    const first = batch.ask(1);
    await nextTurn();
    const second = batch.ask(2);
    store.answer();
    await first;
    const third = batch.ask(3);
    await nextTurn();
    expect(store.sent).toEqual([[1], [2, 3]]);
    store.answer();
    await Promise.all([second, third]);
  });

  it('rejects all of a batch that failed, and none of the next', async () => {
    const store = slowStore();
    const batch = new MicroBatcher({ send: store.send, most: 2, inFlight: 1 });
    const calls = Promise.allSettled([1, 2, 3].map((item) => batch.ask(item)));
    await nextTurn();
    store.fail(new Error('the store is away'));
    await nextTurn();
    store.answer();
    expect((await calls).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });

  it('rejects one call alone whose answer is an error', async () => {
    const send = async (items: readonly number[]) =>
      items.map((item) => (item === 2 ? new Error('not this one') : item));
    const batch = new MicroBatcher<number, number>({ send, most: 10, inFlight: 1 });
    const calls = await Promise.allSettled([1, 2, 3].map((item) => batch.ask(item)));
    expect(calls.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('rejects the calls of a batch that got another number of answers: none is anybody else’s', async () => {
    const batch = new MicroBatcher<number, number>({ send: async () => [1], most: 10, inFlight: 1 });
    const calls = await Promise.allSettled([1, 2].map((item) => batch.ask(item)));
    expect(calls.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('rejects them also when nothing could be sent at all, and sends the next', async () => {
    let broken = true;
    const send = (items: readonly number[]) => {
      if (broken) throw new Error('no connection');
      return Promise.resolve(items);
    };
    const batch = new MicroBatcher({ send, most: 10, inFlight: 1 });
    await expect(batch.ask(1)).rejects.toThrow('no connection');
    broken = false;
    expect(await batch.ask(2)).toBe(2);
  });
});
