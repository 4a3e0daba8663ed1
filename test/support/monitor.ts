import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/** One command: its words, and who sent it, an address or `lua`. */
export type Heard = (words: string[], source: string) => void;

const COMMAND = /^\+[\d.]+ \[\d+ (\S+)\] (.*)$/;
const WORD = /"((?:[^"\\]|\\.)*)"/g;

/**
 * Once it resolves, hears every command that the server carries out, those that scripts call included.
 *
 * Not by way of ioredis: its version 6 is in monitoring mode one turn after the server's OK, and breaks over a command
 * that came in the same chunk.
 * @returns ends it
 */
export async function monitorOf(url: string, heard: Heard): Promise<() => void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port || 6_379), hostname);
  await once(socket, 'connect');
  const lines = createInterface({ input: socket });
  socket.write('MONITOR\r\n');
  const [answer] = (await once(lines, 'line')) as [string];
  if (answer !== '+OK') throw new Error(`Expected Redis to answer MONITOR with OK, got ${answer}.`);
  lines.on('line', (line) => {
    const [, source = '', words = ''] = COMMAND.exec(line) ?? [];
    heard(
      [...words.matchAll(WORD)].map(([, word = '']) => word.replaceAll('\\"', '"')),
      source,
    );
  });
  return () => socket.destroy();
}
