import type { PodCard } from '@fencepost/jobs/internal';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { describe, expect, it } from 'vitest';
import { judgeDeployment } from './doctor.js';
import {
  DAY,
  describeFindings,
  entryNamed,
  happenedAt,
  healthy,
  HOUR,
  liveOf,
  MINUTE,
  NOW,
  podOf,
  processNamed,
  type Over,
} from './doctor.stage.js';
import type { LiveDeclarations } from './live-revisions.js';

interface Declares {
  readonly revision: number;
  /** Its crons and the hash of each; `null`: no longer kept. */
  readonly crons: Readonly<Record<string, string>> | null;
  readonly app?: string;
  readonly code?: string;
  /** When its pods started. */
  readonly agoMs?: number;
  /** Of each of its pods that tells it. */
  readonly removeAfterMs?: readonly number[];
}

const HANDLERS = ['tick', 'mail', 'report'];

/** Two pods of each of these revisions, and what they declare. */
function live(
  declares: readonly Declares[],
  more: Over & { readonly registry?: Partial<LiveDeclarations> } = {},
): Over {
  const { registry, ...over } = more;
  const pods = declares.flatMap((one, n) => ['a', 'b'].map((name, which) => podIn(one, `${name}${n}`, which)));
  const seen = liveOf(pods, registry);
  const revisions = seen.revisions.map((one) => {
    const crons = declares.find(({ app = 'app', revision }) => app === one.app && revision === one.revision)?.crons;
    return { ...one, crons: crons ? new Map(Object.entries(crons)) : null };
  });
  return { pods, live: { ...seen, revisions }, ...over };
}

function podIn(declares: Declares, name: string, which: number): PodCard {
  const { app = 'app', revision, code, agoMs = 5 * HOUR } = declares;
  const removeAfterMs = (declares.removeAfterMs ?? [5 * MINUTE])[which];
  const about = { pod: `pod-${name}/01234567`, app, revision, startedAt: NOW - agoMs, handlers: HANDLERS };
  return podOf({ ...about, ...(code !== undefined && { code }), ...(removeAfterMs && { removeAfterMs }) });
}

function cron(name: string, of: Partial<CatalogEntry> = {}): CatalogEntry {
  return entryNamed({ name }, of);
}

const TICK = { tick: 'a1' };
const OTHER_TICK = { tick: 'b2' };
const ROLLING = { agoMs: MINUTE };
const MIXED = 'note MIXED_REVISIONS app';
/** When a pod of revision 1, which declared everything, was last heard. */
const heard = (agoMs: number) => ({ heard: [{ app: 'app', revision: 1, seenAt: NOW - agoMs }] });
const gone = { entries: [cron('tick'), cron('gone')] };
const dropped = (agoMs: number) => ({ state: 'removed', by: 'app revision 2', since: NOW - agoMs }) as const;
const declaredBy = (...declares: Declares[]) => live(declares);

/** Beside the pods of revision 2, which have "tick", one that reports no revision, as those of former releases do. */
function withFormer(handlers: readonly string[]): Over {
  const { pods = [], live: seen } = live([{ revision: 2, crons: TICK }], { registry: heard(MINUTE) });
  const all = [...pods, podOf({ pod: 'old/01234567', revision: null, handlers })];
  return { pods: all, live: seen ? { ...seen, pods: all } : null, ...gone };
}

describeFindings('doctor-revisions', [
  ['one revision declares all', declaredBy({ revision: 1, crons: TICK }), null],
  ['the pods are unknown', { pods: [], live: null, ...gone }, null],
  ['a deployment rolls', declaredBy({ revision: 1, crons: TICK }, { revision: 2, crons: TICK, ...ROLLING }), MIXED],
  [
    'a deployment has stopped half-way, and a pod restarts',
    declaredBy({ revision: 1, crons: TICK, ...ROLLING }, { revision: 1, crons: TICK }, { revision: 2, crons: TICK }),
    'warn MIXED_REVISIONS app',
  ],
  [
    'two apps have revisions of their own',
    declaredBy({ revision: 1, crons: TICK }, { app: 'shop', revision: 9, crons: { mail: 'c3' } }),
    null,
  ],
  [
    'a newer revision decides, and one cron was removed',
    live(
      [
        { revision: 1, crons: { ...TICK, report: 'd4', mail: 'c3' } },
        { revision: 2, crons: { ...OTHER_TICK, mail: 'c3' }, ...ROLLING },
      ],
      { entries: [cron('tick'), cron('mail'), cron('report', { state: 'removed', by: 'ada' })] },
    ),
    [MIXED, 'note SUPERSEDED tick, report'],
  ],
  [
    'it is no longer kept what the older one declares',
    declaredBy({ revision: 1, crons: null }, { revision: 2, crons: TICK, ...ROLLING }),
    MIXED,
  ],
  [
    'pods with the same code declare differently',
    declaredBy({ revision: 1, crons: TICK, code: 'x' }, { revision: 2, crons: OTHER_TICK, code: 'x', ...ROLLING }),
    ['warn DECLARED_DIFFERENTLY tick', MIXED, 'note SUPERSEDED tick'],
  ],
  [
    'pods with the same code declare the same, and more',
    declaredBy(
      { revision: 1, crons: TICK, code: 'x' },
      { revision: 2, crons: { ...TICK, mail: 'c3' }, code: 'x', ...ROLLING },
    ),
    MIXED,
  ],
  [
    'two programs have one app name',
    declaredBy({ revision: 1, crons: TICK }, { revision: 2, crons: { mail: 'c3' } }),
    'warn APP_SHARED app',
  ],
  [
    'a program without crons has the same app name',
    declaredBy({ revision: 1, crons: TICK }, { revision: 2, crons: {}, ...ROLLING }),
    MIXED,
  ],
  [
    'an app declares a cron of another one',
    live([
      { revision: 1, crons: TICK },
      { app: 'shop', revision: 9, crons: OTHER_TICK },
    ]),
    'warn NAME_TAKEN tick',
  ],
  [
    'it was declared by a former release of the same app',
    live([{ app: 'shop', revision: 1, crons: TICK }], {
      entries: [cron('tick', { app: 'shop/dist/main.js', revision: null })],
    }),
    'warn ORPHANED tick',
  ],
  [
    'no live pod declares a cron',
    live([{ revision: 2, crons: TICK }], { ...gone, registry: heard(2 * MINUTE) }),
    'note UNDECLARED gone',
  ],
  [
    'nobody removes a cron that no live pod declares',
    live([{ revision: 2, crons: TICK }], { ...gone, registry: heard(7 * MINUTE) }),
    'warn UNDECLARED gone',
  ],
  [
    'it is unknown when a pod that declared it was last heard',
    live([{ revision: 2, crons: TICK }], gone),
    'note UNDECLARED gone',
  ],
  [
    'a pod that declares it may not have reported to a new registry',
    live([{ revision: 2, crons: TICK }], { ...gone, registry: { bornAt: NOW - 2_000 } }),
    null,
  ],
  ['a pod of a former release has its handler', withFormer(['gone']), null],
  [
    'a live process has not reported and may declare it',
    { ...live([{ revision: 2, crons: TICK }], gone), unreported: [processNamed('old/0123456789')] },
    'note POD_UNREPORTED old/01234567',
  ],
  ['a pod of a former release has other handlers', withFormer(['mail']), 'note UNDECLARED gone'],
  [
    'a cron was removed',
    live([{ revision: 2, crons: TICK }], { entries: [cron('tick'), cron('gone', dropped(HOUR))] }),
    'note REMOVED gone',
  ],
  [
    'a cron was removed long ago, or by a person',
    live([{ revision: 2, crons: TICK }], {
      entries: [cron('tick'), cron('gone', dropped(2 * DAY)), cron('mail', { ...dropped(HOUR), by: 'ada' })],
    }),
    null,
  ],
  [
    'pods of a revision come and go',
    live([{ revision: 2, crons: TICK }], {
      happened: [1, 2].map(() => happenedAt(MINUTE, 'revision.unstable', { detail: { app: 'app', revision: 3 } })),
    }),
    'warn UNSTABLE_REVISION "app" revision 3',
  ],
  [
    'they did so hours ago',
    live([{ revision: 2, crons: TICK }], {
      happened: [happenedAt(2 * HOUR, 'revision.unstable', { detail: { app: 'app', revision: 3 } })],
    }),
    null,
  ],
]);

describe('a finding about revisions', () => {
  const textOf = (code: string, facts: Over) => {
    const finding = judgeDeployment(healthy(facts)).find((one) => one.code === code);
    return `${finding?.text} To do: ${finding?.todo}`;
  };

  it('names every cron that is not as the older revision declares', () => {
    const older = { ...TICK, report: 'd4', mail: 'c3' };
    const newer = { ...OTHER_TICK, mail: 'x' };
    const entries = [cron('tick'), cron('mail'), cron('report', { state: 'removed', by: 'ada' })];
    const facts = live(
      [
        { revision: 1, crons: older },
        { revision: 2, crons: newer },
      ],
      { entries },
    );
    expect(textOf('SUPERSEDED', facts)).toBe(
      'Live pods of "app" revision 1 declare 3 crons otherwise than what is in force: revision 2 decides tick, mail; removed: report. ' +
        'To do: Nothing while a deployment rolls. To return to revision 1, stop the last pod of each newer one.',
    );
  });

  it('says which of two revisions of one code is in force', () => {
    const declares = [
      { revision: 3, crons: TICK, code: 'x' },
      { revision: 4, crons: OTHER_TICK, code: 'x' },
    ];
    const entries = [cron('tick', { revision: 3 })];
    expect(textOf('DECLARED_DIFFERENTLY', live(declares, { entries }))).toContain(
      'declare tick differently: revisions 3 and 4 of "app", of which 3 is in force.',
    );
  });

  it('says when an undeclared cron is removed', () => {
    const facts = (agoMs: number, ...removeAfterMs: number[]) =>
      live([{ revision: 2, crons: TICK, removeAfterMs }], { ...gone, registry: heard(agoMs) });
    expect(textOf('UNDECLARED', facts(2 * MINUTE, 5 * MINUTE))).toContain('removed in 3 min (removeAfter, 5 min)');
    expect(textOf('UNDECLARED', facts(5 * MINUTE, 5 * MINUTE))).toContain('are being removed (removeAfter, 5 min)');
    expect(textOf('UNDECLARED', facts(2 * HOUR, HOUR))).toContain(
      'should have been removed 1 h ago (removeAfter, 1 h)',
    );
    expect(textOf('UNDECLARED', facts(2 * MINUTE, HOUR, 5 * MINUTE))).toContain(
      'removed in 3 min (removeAfter, 5 min)',
    );
    expect(textOf('UNDECLARED', facts(2 * MINUTE))).toContain('removed once that has lasted for removeAfter.');
  });

  it('says how long two revisions have been live together', () => {
    const facts = declaredBy(
      { revision: 1, crons: TICK },
      { revision: 2, crons: TICK, agoMs: HOUR },
      { revision: 3, crons: TICK, agoMs: MINUTE },
    );
    expect(textOf('MIXED_REVISIONS', facts)).toContain('are live, for 1 h: 3 (2 pods), 2 (2 pods), 1 (2 pods).');
  });
});
