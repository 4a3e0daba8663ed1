import { entryNamed, HOUR, MINUTE, NOW, podOf } from '../../../../test/support/doctor-facts.js';
import { describeFindings, ONE, OTHER, withBoth, withOne } from '../../../../test/support/doctor-table.js';

const inBerlin = [entryNamed({ timeZone: 'Europe/Berlin' })];

describeFindings('doctor-pods', [
  [
    'no scheduler is alive',
    { ...withBoth({ roles: ['worker'] }), lastHeard: NOW - HOUR },
    'bad NO_SCHEDULER schedulers',
  ],
  [
    'no scheduler was ever there',
    { ...withBoth({ roles: ['worker'] }), lastHeard: null },
    'bad NO_SCHEDULER schedulers',
  ],
  ['schedulers are there and do not report', withBoth({ roles: ['worker'] }), 'note NO_SCHEDULER schedulers'],
  ['no worker is alive', withBoth({ roles: ['scheduler'] }), 'bad NO_WORKER workers'],
  ['nobody is alive, and nothing is to be done', { pods: [], entries: [] }, null],
  ['there is one scheduler', { pods: [ONE] }, 'note ONE_SCHEDULER pod-a/01234567'],
  ['a pod is silent', withOne({ seenAt: NOW - 9_000 }), 'warn POD_SILENT pod-a/01234567'],
  ['a clock is ahead', withOne({ clockSkewMs: 1_500 }), 'warn POD_CLOCK pod-a/01234567'],
  ['a clock is far behind', withOne({ clockSkewMs: -11_000 }), 'bad POD_CLOCK pod-a/01234567'],
  ['a clock may be ahead, as far as that is known', withOne({ clockSkewMs: 1_500, rttMs: 1_100 }), null],
  [
    'an event loop is late for its leases',
    withOne({ lagMs: 2_100, runLeaseMs: 60_000 }),
    'warn LEASE_TTL pod-a/01234567',
  ],
  [
    'an event loop is far too late for them',
    withOne({ lagMs: 4_100, runLeaseMs: 60_000 }),
    'bad LEASE_TTL pod-a/01234567',
  ],
  [
    'the store is slow for a short ttl',
    {
      pods: [
        { ...ONE, leaseTtlMs: 300, rttMs: 65 },
        { ...OTHER, leaseTtlMs: 300 },
      ],
    },
    'warn LEASE_TTL pod-a/01234567',
  ],
  [
    'a worker is late for its runs',
    { pods: [ONE, OTHER, podOf({ pod: 'w/01234567', roles: ['worker'], lagMs: 6_000 })] },
    'warn RUN_LEASE w/01234567',
  ],
  [
    'a worker is far too late for them',
    { pods: [ONE, OTHER, podOf({ pod: 'w/01234567', roles: ['worker'], lagMs: 11_000 })] },
    'bad RUN_LEASE w/01234567',
  ],
  ['a scheduler sweeps rarely', withOne({ sweepEveryMs: 120_000 }), 'warn SLOW_SWEEP pod-a/01234567'],
  ['one pod records elsewhere', withOne({ ledger: 'postgres' }), 'bad MIXED_LEDGERS pod-a/01234567'],
  ['all pods record elsewhere', withBoth({ ledger: 'postgres' }), 'bad OTHER_LEDGER pod-a/01234567, pod-b/fedcba98'],
  ['versions are mixed', withOne({ version: '0.2.0' }), 'warn MIXED_VERSIONS 2 pods'],
  [
    'versions are mixed while it rolls',
    withOne({ version: '0.2.0', startedAt: NOW - MINUTE }),
    'note MIXED_VERSIONS 2 pods',
  ],
  ['builds are mixed', withOne({ buildSeq: 2 }), 'warn MIXED_BUILDS 2 pods'],
  [
    'two programs have builds of their own',
    { pods: [ONE, OTHER, podOf({ pod: 'w/01234567', roles: ['worker'], app: 'shop', buildSeq: 9 })] },
    null,
  ],
  ['tz databases are mixed', { ...withOne({ zoneData: '2026a' }), entries: inBerlin }, 'warn MIXED_ZONE_DATA 2 pods'],
  ['tz databases are mixed and all is UTC', withOne({ zoneData: '2026a' }), 'note MIXED_ZONE_DATA 2 pods'],
  ['ttls are mixed', withOne({ leaseTtlMs: 20_000 }), 'note MIXED_TTLS schedulers'],
]);
