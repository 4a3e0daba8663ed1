import { describe, expect, it } from 'vitest';
import { jsonLines } from './json-lines.js';

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

async function read(text: string, size: number): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const value of jsonLines(inPieces(text, size))) values.push(value);
  return values;
}

describe('a stream of JSON lines', () => {
  it.each([1, 2, 3, 5, 1_000])(
    'is read whole when it comes in pieces of %i bytes, also through a letter',
    async (size) => {
      expect(await read('{"a":"größe"}\n\n{"b":"日本"}\n', size)).toEqual([{ a: 'größe' }, { b: '日本' }]);
    },
  );

  it('ends without what was cut off', async () => {
    expect(await read('{"a":1}\n{"b"', 4)).toEqual([{ a: 1 }]);
  });
});
