import { describe, expect, it } from 'vitest';
import { EFFECTIVE_AFTER_MS } from '@fencepost/ledger/catalog';
import { entryOf, generationsOf, START } from '../support/audit-history.js';
import { toldChanges } from './changes.js';
import { byName, type Knowledge } from './kept-definitions.js';
import type { RecordedEvent } from './recording.js';

const SECOND = 1_000;

/** Generations of one cron by revisions, the first one at the start and the others ten seconds apart. */
function knowledge(...made: readonly { readonly revision: number; readonly reason?: string | null }[]): Knowledge {
  const plain = generationsOf(...made.map((_, n) => ({ since: START + n * 10 * SECOND })));
  const generations = plain.map((one, n) => ({
    ...one,
    ...{ by: `shop revision ${made[n]?.revision}`, reason: made[n]?.reason ?? null },
  }));
  return { process: 'oracle', calledAt: 0, at: 0, entries: byName([entryOf(generations)]) };
}

/** Of a pod, a number of seconds after the start. */
function told(event: string, revision: number, { at = 0, process = 'w1/1/1' } = {}): RecordedEvent {
  return { at: at * SECOND * SECOND, process, event, detail: { app: 'shop', revision, crons: ['tick'] } };
}

const judged = (one: Knowledge, ...events: RecordedEvent[]) =>
  toldChanges({ knowledge: [one, one], events, epochMs: START - EFFECTIVE_AFTER_MS });

describe('toldChanges', () => {
  it('finds nothing where each generation has an event of its own', () => {
    const known = knowledge({ revision: 1 }, { revision: 2 }, { revision: 1, reason: 'declared again' });
    const events = [told('catalog.created', 1), told('catalog.changed', 2), told('catalog.restored', 1)];
    expect(judged(known, ...events)).toEqual({ changes: 3, silent: [], untold: 0 });
  });

  it('finds a generation of which no pod told, and tells it from one of the same revision that was told', () => {
    const { silent, changes } = judged(knowledge({ revision: 1 }, { revision: 1 }), told('catalog.created', 1));
    expect(changes).toBe(2);
    expect(silent).toEqual([expect.stringContaining('No pod told that shop revision 1 made tick active')]);
  });

  it('does not take the word of another revision, or another word of the same', () => {
    const events = [told('catalog.changed', 2), told('catalog.removed', 1), told('catalog.superseded', 1)];
    expect(judged(knowledge({ revision: 1 }), ...events).silent).toHaveLength(1);
  });

  it('counts a change apart whose pod ended before it heard an answer', () => {
    const known = knowledge({ revision: 1 });
    expect(judged(known, told('catalog.asked', 1))).toMatchObject({ silent: [], untold: 1 });
    const late = [told('catalog.asked', 1), told('catalog.answered', 1, { at: 1 })];
    expect(judged(known, ...late)).toMatchObject({ silent: [expect.any(String)], untold: 0 });
    const other = [told('catalog.asked', 1), told('catalog.answered', 1, { at: 1, process: 'w2/2/1' })];
    expect(judged(known, ...other)).toMatchObject({ silent: [], untold: 1 });
    expect(judged(known, told('catalog.asked', 1, { at: 60 }))).toMatchObject({ silent: [expect.any(String)] });
  });

  it('leaves out what people ordered', () => {
    const entries = byName([entryOf(generationsOf({ since: START }))]);
    expect(
      toldChanges({ knowledge: [{ process: 'o', calledAt: 0, at: 0, entries }], events: [], epochMs: START }),
    ).toEqual({
      ...{ changes: 0, silent: [], untold: 0 },
    });
  });
});
