import { FencepostError } from '@fencepost/lease';
import { scrubText } from '@fencepost/lease/internal';
import { once } from 'node:events';
import { createServer } from 'node:net';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Why a process does not start, for a person to read: one sentence for what a person can mend. Only for what nobody
 * expected the stack is worth its lines, and even then it comes after the sentence.
 */
export function refusal(error: unknown, { host, port }: Address): string {
  if (error instanceof FencepostError) return error.message;
  if (!(error instanceof Error)) return scrubText(String(error));
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    return `Port ${port} of ${host} is in use. Set PORT to a free one (0 takes any), or end the program that has it.`;
  }
  if (code === 'EACCES') return `This user may not listen on port ${port} of ${host}. Set PORT to one above 1023.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return `This machine has no address ${host}. Set HOST to one it has, such as 127.0.0.1 or 0.0.0.0.`;
  }
  return scrubText(`${error.message}\n${error.stack ?? ''}`);
}

/**
 * Tries whether the pod will be able to listen, before it has begun anything: a worker that is refused its port only after
 * it took its first runs would leave them to expire.
 * @throws what listening throws, such as EADDRINUSE
 */
export async function probePort({ host, port }: Address): Promise<void> {
  const probe = createServer().listen(port, host);
  await once(probe, 'listening');
  const closed = once(probe, 'close');
  probe.close();
  await closed;
}
