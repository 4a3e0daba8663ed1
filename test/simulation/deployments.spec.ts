import { beforeEach, describe, expect, it } from 'vitest';
import type { Declaration } from '@fencepost/ledger/catalog';
import { definitionOf, entryOf, generationsOf, CRON, type Change } from '../support/audit-history.js';
import { cadence } from './cadence.js';
import { ChangeLedger } from './rules/changes.js';
import {
  checkDefinitions,
  checkRemoval,
  checkReversal,
  checkTakeover,
  hashesOf,
  patienceOf,
  type DeploymentView,
  type KnownPod,
} from './rules/deployments.js';
import { SimProcess } from './sim-process.js';
import { VirtualClock } from './virtual-clock.js';

const patience = patienceOf(cadence(1_000));
const { gaveWayMs, removeAfterMs, removedMs, declareMs, settleMs } = patience;
const LONG = removeAfterMs + 2 * removedMs;
/** Long after everything that a view tells of. */
const NOW = 10 * LONG;

const OLD = '0 3 * * *';
const NEW = '0 4 * * *';

function declaration(expression: string): Declaration {
  return { definition: definitionOf({ expression }), disabled: false };
}

/** `expression: null` for a pod that does not declare the cron. */
type Over = Partial<KnownPod> & { readonly expression?: string | null };

/** A healthy one that declares the cron, unless it is told otherwise. */
function pod(name: string, revision: number, { expression = OLD, ...over }: Over = {}): KnownPod {
  const declared = hashesOf(expression === null ? [] : [declaration(expression)]);
  const since = NOW - LONG;
  return {
    ...{ name, app: 'shop', declared, revision, healthySince: since, reachedAt: NOW, heardSince: since, heardAt: NOW },
    ...over,
  };
}

/** One that is gone since a while. */
function gone(name: string, revision: number, { agoMs, ...over }: Over & { readonly agoMs: number }): KnownPod {
  const at = NOW - agoMs;
  return pod(name, revision, { healthySince: null, reachedAt: at, heardAt: at, heardSince: at - LONG, ...over });
}

function entry(
  expression: string,
  { app = 'shop', revision = 1, ...over }: Partial<Change> & { app?: string | null; revision?: number } = {},
) {
  return { ...entryOf(generationsOf({ since: 0, expression, ...over })), app, revision };
}

function view(entries: DeploymentView['entries'], ...pods: KnownPod[]): DeploymentView {
  return { now: NOW, epochMs: NOW, entries, pods, lost: { catalog: -Infinity, registry: -Infinity }, patience };
}

const judging =
  (...given: Parameters<typeof view>) =>
  () =>
    checkDefinitions(view(...given));

describe('checkDefinitions', () => {
  it('accepts what the newest healthy pod declares, and refuses what an older one does', () => {
    const both = [pod('a', 1), pod('b', 2, { expression: NEW })];
    expect(judging([entry(NEW)], ...both)).not.toThrow();
    expect(judging([entry(OLD)], ...both)).toThrow('b (2) declare it otherwise');
    expect(judging([entry(OLD)], pod('a', 1), pod('b', 2, { expression: null }))).not.toThrow();
  });

  it('accepts what a newer revision declares until it has given way for sure', () => {
    expect(judging([entry(NEW)], pod('a', 1), gone('b', 2, { agoMs: gaveWayMs - 1, expression: NEW }))).not.toThrow();
    expect(judging([entry(NEW)], pod('a', 1), gone('b', 2, { agoMs: gaveWayMs, expression: NEW }))).toThrow(
      'otherwise',
    );
  });

  it('demands nothing of a pod that has not had its time, or that is hurt', () => {
    const young = pod('b', 2, { expression: NEW, healthySince: NOW - declareMs + 1 });
    expect(judging([entry(OLD)], pod('a', 1), young)).not.toThrow();
    expect(judging([entry(NEW)], pod('a', 1), young)).not.toThrow();
    expect(judging([], pod('a', 1, { healthySince: null }))).not.toThrow();
  });

  it('demands nothing for a while after a store was lost', () => {
    const whole = view([], pod('a', 1));
    expect(() => checkDefinitions(whole)).toThrow("a declares tick, which the catalog doesn't have");
    const lost = { catalog: NOW - gaveWayMs + 1, registry: -Infinity };
    expect(() => checkDefinitions({ ...whole, lost })).not.toThrow();
  });

  it('refuses a removal that lasts while a pod declares the cron', () => {
    const removed = (since: number) => entry(OLD, { state: 'removed', since });
    expect(judging([removed(NOW - declareMs)], pod('a', 1))).toThrow('which is removed since');
    expect(judging([removed(NOW - declareMs + 1)], pod('a', 1))).not.toThrow();
  });

  it('refuses a cron that is kept for long after the last pod that declared it', () => {
    const other = pod('a', 2, { expression: null });
    const whole = removeAfterMs + removedMs;
    expect(judging([entry(OLD)], other, gone('b', 1, { agoMs: whole }))).not.toThrow();
    expect(judging([entry(OLD)], other, gone('b', 1, { agoMs: whole + 1 }))).toThrow('is kept although no pod of shop');
    expect(judging([entry(OLD)], gone('b', 1, { agoMs: LONG }))).not.toThrow();
  });

  it('leaves a cron to the app that has it, until no pod of that has declared it for long', () => {
    const billing = pod('b', 1, { app: 'billing', expression: NEW });
    expect(judging([entry(OLD)], pod('a', 1), billing)).not.toThrow();
    expect(judging([entry(OLD)], gone('a', 1, { agoMs: removeAfterMs }), billing)).not.toThrow();
    expect(judging([entry(OLD)], gone('a', 1, { agoMs: LONG }), billing)).toThrow('and b waits for it');
  });

  it('leaves out what people made', () => {
    expect(judging([entry(OLD, { app: null })], pod('a', 1, { expression: NEW }))).not.toThrow();
  });
});

describe('the moment of a change', () => {
  it('is refused for an older definition while a newer pod was heard within the settle time', () => {
    const at = (agoMs: number) => view([], pod('a', 1), gone('b', 2, { agoMs, expression: NEW }));
    expect(() => checkReversal(at(settleMs / 2), entry(OLD))).toThrow('changed tick back while b was heard');
    expect(() => checkReversal(at(settleMs), entry(OLD))).not.toThrow();
    expect(() => checkReversal(at(settleMs / 2), entry(NEW, { revision: 2 }))).not.toThrow();
  });

  it('is refused for a removal while a pod that declares the cron was heard within its time', () => {
    const at = (agoMs: number) => view([], pod('a', 2, { expression: null }), gone('b', 1, { agoMs }));
    const removed = entry(OLD, { state: 'removed' });
    expect(() => checkRemoval(at(removeAfterMs / 2), removed)).toThrow('which b declared');
    expect(() => checkRemoval(at(removeAfterMs), removed)).not.toThrow();
    const single = gone('b', 1, { agoMs: removeAfterMs / 2, heardSince: NOW - removeAfterMs / 2 });
    expect(() => checkRemoval(view([], single), removed)).not.toThrow();
  });

  it('is refused for a takeover while a pod of the other app was heard within the time of a removal', () => {
    const at = (agoMs: number) => view([], pod('a', 1, { app: 'billing' }), gone('b', 1, { agoMs }));
    const taken = entry(OLD, { app: 'billing' });
    expect(() => checkTakeover(at(removeAfterMs / 2), taken)).toThrow('which b declared');
    expect(() => checkTakeover(at(removeAfterMs), taken)).not.toThrow();
  });
});

describe('ChangeLedger', () => {
  const PATIENCE_MS = 100;
  const writer = new SimProcess(new VirtualClock(0), { name: 'worker-1/1', rate: 1, aheadMs: 0 });
  const told = { app: 'shop', revision: 2, crons: [CRON], count: 1 };
  let changes: ChangeLedger;
  beforeEach(() => {
    changes = new ChangeLedger(PATIENCE_MS);
  });

  const changed = (over: Partial<Change> = {}, by: SimProcess | null = writer) =>
    changes.changed([entry(NEW, { by: 'shop revision 2', ...over })], { writer: by, now: 0 });

  const judged = (isHealthy = true) => {
    changes.judge(PATIENCE_MS, () => isHealthy);
    return [changes.silent.length, changes.untold];
  };

  it('takes a change for told once a pod of its revision has told of it', () => {
    expect(changed()).toHaveLength(1);
    changes.heard('catalog.created', told);
    expect(judged()).toEqual([0, 0]);
  });

  it('finds a change that is told by another word, of another revision, or not at all', () => {
    changed();
    changes.heard('catalog.restored', told);
    changes.heard('catalog.created', { ...told, revision: 1 });
    expect(judged()).toEqual([1, 0]);
    expect(changes.silent[0]).toBe('tick was made by shop revision 2');
  });

  it('waits for a pod that cannot go on, and counts one apart that has died', () => {
    changed();
    expect(judged(false)).toEqual([0, 0]);
    expect(judged()).toEqual([0, 0]);
    const dead = new SimProcess(new VirtualClock(0), { name: 'worker-2/1', rate: 1, aheadMs: 0 });
    dead.crash();
    changed({ since: 1 }, dead);
    expect(judged()).toEqual([0, 1]);
  });

  it('takes neither what people ordered nor what a store went back to for a change of a pod', () => {
    expect(changed({ by: 'ada', reason: 'a test' })).toHaveLength(1);
    changes.rebase([entry(OLD, { by: 'shop revision 1' })]);
    expect(changes.changed([entry(OLD, { by: 'shop revision 1' })], { writer, now: 0 })).toEqual([]);
    expect(judged()).toEqual([0, 0]);
  });
});
