import { ask, keepsGrowing } from './promql.mjs';

/**
 * What may have run twice, or did not only because it was refused.
 * @param {typeof import('../../libs/operations/src/metrics/metric-list.ts').METRICS} m
 * @returns {readonly import('./alert-list.mjs').Alert[]}
 */
export function doubtAlerts(m) {
  return [...refusals(m), ...leases(m), ...stuckLeases(m), ...uncertain(m)];
}

function refusals(m) {
  const rejected = ask({ of: m.fenceRejections, by: ['cron', 'at'], as: 'sum', over: 'increase', range: '10m' });
  const downstream = ask({ of: m.leaseRejected, by: ['downstream'], as: 'sum', over: 'increase', range: '10m' });
  return [
    {
      ...{ name: 'FencepostFenceRejections', expr: `${rejected} > 3`, holds: '0m', severity: 'warning' },
      summary: 'Stale writes to {{ $labels.cron }} are refused repeatedly, at {{ $labels.at }}.',
      description: 'Each refusal is a prevented duplicate. This many indicate frozen pods or clocks that jump.',
      runbook: 'duplicate-suspected',
    },
    {
      ...{ name: 'FencepostDownstreamRejections', expr: `${downstream} > 3`, holds: '0m', severity: 'warning' },
      summary: '{{ $labels.downstream }} refuses stale writes repeatedly.',
      description: 'A process writes there after its lease has ended. The fence kept the write out.',
      runbook: 'duplicate-suspected',
    },
  ];
}

function leases(m) {
  const lost = keepsGrowing({ of: m.leaseTransitions, where: { transition: 'lost' } }, 5);
  const unreleased = keepsGrowing({ of: m.leaseUnreleased, by: ['resource_type'] }, 5);
  return [
    {
      ...{ name: 'FencepostLeasesLost', expr: lost, holds: '0m', severity: 'warning', runbook: 'failover' },
      summary: 'Scheduler pods keep losing crons that they hold.',
      description:
        'They are too slow to renew, or their store fails over: "fencepost doctor" compares the TTL with measured times.',
    },
    {
      ...{ name: 'FencepostLeasesUnreleased', expr: unreleased, holds: '0m', severity: 'warning' },
      summary: 'Leases of {{ $labels.resource_type }} keep ending without a release.',
      description: 'Holders die, freeze, or work longer than their lease lasts.',
      runbook: 'duplicate-suspected',
    },
  ];
}

function stuckLeases(m) {
  const over = ask({ of: m.leaseOverBudget, by: ['resource_type'], as: 'sum' });
  const bounded = { of: m.leaseLost, where: { reason: 'max-hold' }, by: ['resource_type'] };
  const ended = ask({ ...bounded, as: 'sum', over: 'increase', range: '10m' });
  const failed = { of: m.leaseAcquire, where: { outcome: 'error' }, by: ['resource_type'] };
  const errors = ask({ ...failed, as: 'sum', over: 'increase', range: '10m' });
  return [
    {
      name: 'FencepostLeaseHeldOverBudget',
      expr: `(${over} > 0) or (${ended} > 0)`,
      ...{ holds: '2m', severity: 'warning', runbook: 'stuck-lease' },
      summary: 'Leases of {{ $labels.resource_type }} are held for longer than their budget.',
      description:
        'The budget is maxHold, after which a lease is lost, or else ten times its ttl. The work hangs, or needs a maxHold of its own.',
    },
    {
      ...{ name: 'FencepostLeaseAcquireErrors', expr: `${errors} > 5`, holds: '0m', severity: 'warning' },
      summary: 'Requests for leases of {{ $labels.resource_type }} fail.',
      description: 'Their store does not answer, or refuses. Whatever needs such a lease does not begin.',
      runbook: 'redis-lost',
    },
  ];
}

function uncertain(m) {
  return [
    {
      name: 'FencepostUncertainRuns',
      expr: `${ask({ of: m.uncertainRuns, by: ['cron'], as: 'sum' })} > 0`,
      ...{ holds: '5m', severity: 'critical', runbook: 'uncertain-run' },
      summary: '{{ $value }} runs of {{ $labels.cron }} wait for an operator.',
      description:
        'It is unknown whether an effect has happened. The run waits until an operator has checked and answers.',
    },
  ];
}
