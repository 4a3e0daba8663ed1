import * as fc from 'fast-check';
import { expect } from 'vitest';
import type { Fence, LeaseStore } from '@fencepost/lease';
import type { QuorumMember } from '@fencepost/lease/quorum';
import type { Term } from '@fencepost/lease/store';
import type { Answer, LeaseBook } from './lease-book.js';

/** Does something to the store, and tells the book of what the store has lost by it. */
export type Fault = (book: LeaseBook) => Promise<unknown>;

/** A store and what can happen to it. */
export interface LeaseWorld {
  /** The store as one of several clients reaches it. */
  store(client: number): LeaseStore & Partial<QuorumMember>;
  /** The store's clock, milliseconds. */
  now(): number;
  /** Steps the store's clock, where that can be done. */
  readonly step?: (ms: number) => void;
  readonly faults: Readonly<Record<string, Fault>>;
}

const RESOURCES = ['a', 'b'] as const;
export const CLIENTS = 3;

type LeaseCommand = fc.AsyncCommand<LeaseBook, LeaseWorld>;
type Act = (book: LeaseBook, world: LeaseWorld) => Promise<unknown>;

/** After each command all of the store has to look as the book has it. */
function command(name: string, act: Act): LeaseCommand {
  return {
    check: () => true,
    run: async (book, world) => {
      await act(book, world);
      const answers = await timedEach(world, () => world.store(0).inspect(RESOURCES));
      answers.forEach((answer, n) => book.shown(RESOURCES[n]!, answer));
    },
    toString: () => name,
  };
}

async function timed<T>(world: LeaseWorld, ask: () => Promise<T>): Promise<Answer<T>> {
  const from = world.now();
  const reply = await ask();
  return { reply, during: [from, world.now()] };
}

/** What was said of each, in the order asked. */
async function timedEach<T>(world: LeaseWorld, ask: () => Promise<T[]>): Promise<Answer<T>[]> {
  const { reply, during } = await timed(world, ask);
  return reply.map((one) => ({ reply: one, during }));
}

const client = fc.nat(CLIENTS - 1);
const resource = fc.constantFrom(...RESOURCES);
// Few nonces, so that requests are repeated and terms come back after their end.
const anyNonce = fc.constantFrom('n1', 'n2', 'n3', 'n4');
const contender = fc.record({ resource, nonce: anyNonce });
const term = fc.record({ resource, nonce: fc.oneof(anyNonce, fc.constant('the current one')) });

/** The nonce of whoever has the resource is known only when the command runs. */
function named({ resource: name, nonce: given }: Term, book: LeaseBook): Term {
  return { resource: name, nonce: given === 'the current one' ? (book.nonce(name) ?? 'n1') : given };
}

// The short one ends by itself, the long ones only when the clock is stepped.
const ttlMs = fc.constantFrom(5, 10_000, 60_000, 600_000);
const floor = fc.constantFrom('none' as const, 'none' as const, 'the last' as const, 'an older one' as const);
const stepMs = fc.oneof(
  fc.constantFrom(1, 50, 10_000, 61_000, 700_000, 3_600_000),
  fc.constantFrom(-1, -50, -15_000, -300_000, -3_600_000),
  fc.integer({ min: -3_600_000, max: 3_600_000 }),
);

const acquire = fc.record({ client, term: contender, ttlMs, floor }).map((asked) =>
  command(`acquire(${show(asked.term)}, ${asked.ttlMs} ms, floor ${asked.floor})`, async (book, world) => {
    const request = {
      ...asked.term,
      // A term has one holder, through whichever connection it is asked for again.
      holder: `pod of ${asked.term.nonce}`,
      ttlMs: asked.ttlMs,
      floor: floorOf(book, asked.term, asked.floor),
    };
    book.acquired(request, await timed(world, () => world.store(asked.client).acquire(request)));
  }),
);

function floorOf(book: LeaseBook, { resource: name }: Term, kind: 'none' | 'the last' | 'an older one'): Fence {
  if (kind === 'none') return 0 as Fence;
  return Math.max(0, book.last(name) - (kind === 'the last' ? 0 : 5_000_000)) as Fence;
}

const terms = fc.array(term, { minLength: 1, maxLength: 3 });

const renew = fc.record({ client, terms, ttlMs }).map((asked) =>
  command(`renew(${asked.terms.map(show).join(', ')}, ${asked.ttlMs} ms)`, async (book, world) => {
    const batch = asked.terms.map((one) => named(one, book));
    const answers = await timedEach(world, () => world.store(asked.client).renew(batch, asked.ttlMs));
    expect(answers).toHaveLength(batch.length);
    answers.forEach((answer, n) => book.renewed(batch[n]!, asked.ttlMs, answer));
  }),
);

const release = fc.record({ client, terms }).map((asked) =>
  command(`release(${asked.terms.map(show).join(', ')})`, async (book, world) => {
    const batch = asked.terms.map((one) => named(one, book));
    const answers = await timedEach(world, () => world.store(asked.client).release(batch));
    expect(answers).toHaveLength(batch.length);
    answers.forEach((answer, n) => book.released(batch[n]!, answer));
  }),
);

const HOUR_US = 3_600_000_000;

const raise = fc.record({ client, term, byUs: fc.constantFrom(-1, 1, -HOUR_US, HOUR_US) }).map((asked) =>
  command(`raiseFence(${show(asked.term)}, ${asked.byUs})`, async (book, world) => {
    const one = named(asked.term, book);
    const fence = Math.max(1, book.last(one.resource) + asked.byUs) as Fence;
    const store = world.store(asked.client);
    if (!store.raiseFence) return;
    book.raised(one, fence, await timed(world, () => store.raiseFence!(one, fence)));
  }),
);

const step = stepMs.map((ms) =>
  command(`the clock steps ${ms} ms`, async (book, world) => {
    book.beforeStep(world.now());
    world.step?.(ms);
  }),
);

export interface CommandOptions {
  readonly faults: readonly string[];
  /** Whether the store's clock can be stepped. */
  readonly steps: boolean;
}

/** Random sequences of up to 30 calls, steps and faults. */
export function leaseCommands({ faults, steps }: CommandOptions): fc.Arbitrary<Iterable<LeaseCommand>> {
  const fault = fc.constantFrom(...faults).map((name) => command(name, (book, world) => world.faults[name]!(book)));
  const any = fc.oneof(
    { weight: 7, arbitrary: acquire },
    { weight: 3, arbitrary: renew },
    { weight: 2, arbitrary: release },
    { weight: 3, arbitrary: raise },
    { weight: steps ? 4 : 0, arbitrary: step },
    { weight: 3, arbitrary: fault },
  );
  return fc.commands([any], { maxCommands: 30, size: 'max' });
}

function show({ resource: name, nonce }: Term): string {
  return `${name} ${nonce}`;
}
