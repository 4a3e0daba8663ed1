import type { Ledger } from '@fencepost/ledger';
import type { FailPoints, Write } from './fail-points.js';
import type { WorkerProcess } from './worker-process.js';

export interface Faults {
  readonly process: WorkerProcess;
  readonly points: FailPoints;
}

/** Where each write says which effect it is about. */
const EFFECT_OF: Readonly<Record<Write, (args: readonly unknown[]) => string | undefined>> = {
  begin: () => undefined,
  beginEffect: (args) => nameIn(args[1]),
  finishEffect: (args) => nameIn(args[1]),
  advanceItems: (args) => nameIn(args[1]),
  transaction: (args) => nameIn(args[1]),
  finish: () => undefined,
};

/**
 * A ledger as one worker process sees it: the process can be killed or frozen before and after each write, and a request or
 * a reply can get lost. Works over any ledger, and is one in every other respect.
 */
export function faultyLedger<L extends Ledger>(ledger: L, faults: Faults): L {
  return new Proxy(ledger, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => send(faults, { name, args, call: () => Reflect.apply(value, target, args) });
    },
  });
}

interface Sent {
  readonly name: PropertyKey;
  readonly args: readonly unknown[];
  readonly call: () => unknown;
}

async function send({ process, points }: Faults, { name, args, call }: Sent): Promise<unknown> {
  // A frozen process sends nothing, and one that is dead never will.
  await process.pass();
  const write = isWrite(name) ? { write: name, effect: EFFECT_OF[name](args) } : null;
  try {
    if (write) points.meet(process, { when: 'before', ...write });
    await process.pass();
    const reply = await call();
    if (write) points.meet(process, { when: 'after', ...write });
    return reply;
  } finally {
    await process.pass();
  }
}

function isWrite(name: PropertyKey): name is Write {
  return typeof name === 'string' && Object.hasOwn(EFFECT_OF, name);
}

function nameIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const name: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'name') : undefined;
  return typeof name === 'string' ? name : undefined;
}
