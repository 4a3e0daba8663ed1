import { createInterface } from 'node:readline';
import { connectQuorum, type ConnectQuorumOptions, type QuorumLeaseStore } from '@fencepost/lease/quorum';

/**
 * A process that uses a quorum: a line of JSON in, `{ id, call, args }`, is a call; a line out is what came of it,
 * `{ id, value }` or `{ id, error }`. Ends with its input.
 */
interface Call {
  readonly id: number;
  readonly call: 'acquire' | 'renew' | 'release';
  readonly args: readonly unknown[];
}

const options = JSON.parse(process.argv[3] ?? '') as ConnectQuorumOptions;
const { store, close } = await connectQuorum(options);
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

async function answer({ id, call, args }: Call): Promise<void> {
  const asked = store[call] as (...given: readonly unknown[]) => ReturnType<QuorumLeaseStore[typeof call]>;
  try {
    say({ id, value: await asked.apply(store, [...args]) });
  } catch (error) {
    say({ id, error: (error as { code?: string }).code ?? String(error) });
  }
}

say({ id: 0, value: 'connected' });
for await (const line of createInterface({ input: process.stdin })) void answer(JSON.parse(line) as Call);
await close();
process.exit();
