import { describe, expect, it } from 'vitest';
import { FENCEPOST, hindranceOfPgBoss, PLAIN_BULLMQ, type Peer } from './peers.js';
import { torturePeer, type Outcome } from './torture-peer.js';

/** The kind that hurts for certain: stopped in the middle of its work, until somebody else has taken over. */
const FROZEN = 'frozen-at-work';
const AT_MOST_S = 40;
const PATIENCE_MS = 300_000;

/** Over as soon as somebody was stopped in the middle and has gone on. */
function untilFrozenOnce(peer: Peer): Promise<Outcome> {
  const over = new AbortController();
  return torturePeer(peer, {
    ...{ seed: 7, seconds: AT_MOST_S, calmSeconds: 0, only: [FROZEN], signal: over.signal },
    onStrike: ({ phase }) => phase === 'mended' && over.abort(),
  });
}

describe.concurrent('a process that is stopped in the middle of its work for longer than its lock, and goes on', () => {
  it(
    'does no harm with Fencepost',
    async ({ expect: expectHere }) => {
      const outcome = await untilFrozenOnce(FENCEPOST);
      expectHere(outcome).toMatchObject({ missed: 0, doubled: 0, stale: 0, faults: { [FROZEN]: 1 } });
    },
    PATIENCE_MS,
  );

  it(
    'does the same instant twice with plain BullMQ',
    async ({ expect: expectHere }) => {
      const outcome = await untilFrozenOnce(PLAIN_BULLMQ);
      expectHere(outcome).toMatchObject({ faults: { [FROZEN]: 1 } });
      expectHere(outcome.doubled).toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );
});

describe('a peer that needs a younger node', () => {
  it.each([
    ['20.19.0', '12.38.0', 'needs node ≥ 22.12'],
    ['22.11.0', '12.38.0', 'needs node ≥ 22.12'],
    ['22.12.0', '12.38.0', undefined],
    ['24.0.1', '12.38.0', undefined],
    ['24.0.1', '', 'is not installed'],
  ])('says so on node %s', (node, version, hindrance) => {
    expect(hindranceOfPgBoss(node, version).hindrance).toBe(hindrance);
  });
});
