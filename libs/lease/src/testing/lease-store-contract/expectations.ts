import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { HoldingsPage, LeaseStore, ListedHolding } from '../../store/lease-store.js';
import { request } from './stage.js';

const PATIENCE_MS = 5_000;
const LOOK_AGAIN_MS = 5;

export function assertAbove(actual: number, bound: number): void {
  assert.ok(actual > bound, `Expected a number above ${bound}, got ${actual}.`);
}

export function assertAtMost(actual: number, bound: number): void {
  assert.ok(actual <= bound, `Expected a number up to ${bound}, got ${actual}.`);
}

/** By its name and code: a runner may load this file in a realm of its own, where `instanceof` sees another class. */
export async function assertRejects(
  doing: Promise<unknown>,
  expected: { name?: string; code?: string },
): Promise<void> {
  await assert.rejects(doing, expected);
}

export async function assertFree(store: LeaseStore, ...resources: readonly string[]): Promise<void> {
  assert.deepEqual(
    await store.inspect(resources),
    resources.map(() => null),
  );
}

/** Somebody else gets in, which is what being free means. */
export async function assertAcquirable(store: LeaseStore, resource: string): Promise<void> {
  const reply = await store.acquire(request({ resource }));
  assert.ok(reply.acquired, `Expected ${resource} to be free, got ${JSON.stringify(reply)}.`);
}

/** What a busy store says to a contender: how long the holder has left. */
export async function askInVain(store: LeaseStore, resource = 'r'): Promise<number> {
  const reply = await store.acquire(request({ resource }));
  assert.ok(!reply.acquired, `Expected ${resource} to be held, but a contender got it.`);
  return reply.remainingMs;
}

/** For what has no event to wait for. */
export async function eventually(what: string, look: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!look()) {
    assert.ok(performance.now() < deadline, `Waited ${PATIENCE_MS / 1000} s in vain until ${what}.`);
    await wait(LOOK_AGAIN_MS);
  }
}

/** All that a store lists, by resource. */
export async function listAll(
  store: LeaseStore,
  limit: number,
  sizes: number[] = [],
): Promise<Map<string, ListedHolding>> {
  const shown = new Map<string, ListedHolding>();
  let after: string | null = null;
  do {
    const { items, next }: HoldingsPage = (await store.list?.(after, limit)) ?? assert.fail();
    sizes.push(items.length);
    for (const item of items) shown.set(item.resource, item);
    after = next;
  } while (after !== null);
  return shown;
}
