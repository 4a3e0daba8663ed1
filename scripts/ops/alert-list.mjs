import { doubtAlerts } from './doubt-alerts.mjs';
import { ask, quantile } from './promql.mjs';

/**
 * @typedef {object} Alert
 * @property {string} name
 * @property {string} expr
 * @property {string} holds how long it has to be so
 * @property {'critical' | 'warning'} severity
 * @property {string} summary
 * @property {string} description what it means, and what is in danger
 * @property {string} runbook the section of the runbook
 */

/**
 * What somebody at night has to know: first what no longer runs, then what may have run twice, then what is about to fail.
 * @param {typeof import('../../libs/jobs/src/metrics/metric-list.ts').METRICS} m
 * @returns {readonly Alert[]}
 */
export function alertList(m) {
  return [...pods(m), ...firing(m), ...outcomes(m), ...doubtAlerts(m), ...runs(m), ...stores(m), ...clocksAndNodes(m)];
}

function pods(m) {
  const none = (role) => `(${ask({ of: m.pods, where: { role }, as: 'max' })} or vector(0)) == 0`;
  return [
    {
      ...{
        name: 'FencepostNoScheduler',
        expr: none('scheduler'),
        holds: '1m',
        severity: 'critical',
        runbook: 'no-pod',
      },
      summary: 'No scheduler pod is there.',
      description: 'No cron fires. What comes due now is made up for, or not, as the misfire policy of each cron says.',
    },
    {
      ...{ name: 'FencepostNoWorker', expr: none('worker'), holds: '1m', severity: 'critical', runbook: 'no-pod' },
      summary: 'No worker pod is there.',
      description: 'Crons fire, and nothing carries their runs out: they wait in the queue.',
    },
  ];
}

function firing(m) {
  const crons = `sum(${ask({ of: m.definitions, by: ['state'], as: 'max' })})`;
  const held = `(${ask({ of: m.leaseHeld, as: 'sum' })} or vector(0))`;
  const overdue = `time() - ${ask({ of: m.nextFire, by: ['cron'], as: 'min' })}`;
  return [
    {
      ...{ name: 'FencepostCronWithoutHolder', expr: `${crons} - ${held} > 0`, holds: '2m', severity: 'critical' },
      summary: '{{ $value }} crons are held by no scheduler pod.',
      description: 'Nobody fires them. A lease that nobody can take, or pods that are too busy to hold all crons.',
      runbook: 'stuck-cron',
    },
    {
      ...{ name: 'FencepostFireOverdue', expr: `${overdue} > 120`, holds: '1m', severity: 'critical' },
      summary: '{{ $labels.cron }} was due {{ $value | humanizeDuration }} ago, and nothing has become of it.',
      description:
        'Its holder has neither claimed the instant nor written down why not: it can not reach its store, or is stuck.',
      runbook: 'stuck-cron',
    },
  ];
}

function outcomes(m) {
  // From the holder's series alone: one of a worker is missing for a cron that has never succeeded, and knows of no pause.
  const age = `time() - ${ask({ of: m.successAwaited, by: ['cron'], as: 'max' })}`;
  const allowed = `2 * ${ask({ of: m.fireInterval, by: ['cron'], as: 'max' })} + 300`;
  return [
    {
      name: 'FencepostFiresMissed',
      expr: `${ask({ of: m.fires, where: { outcome: 'missed' }, by: ['cron'], as: 'sum', over: 'increase', range: '15m' })} > 0`,
      ...{ holds: '0m', severity: 'warning', runbook: 'stuck-cron' },
      summary: '{{ $labels.cron }} has missed instants, which will not run.',
      description:
        'Nobody claimed them in time, and its misfire policy does not make up for them. "fencepost why" says who was there.',
    },
    {
      name: 'FencepostFiresLate',
      expr: `${quantile(0.99, { of: m.fireDelay, range: '10m' })} > 5`,
      ...{ holds: '10m', severity: 'warning', runbook: 'stuck-cron' },
      summary: 'One in a hundred instants is claimed {{ $value | humanizeDuration }} late.',
      description: 'The scheduler pods or their store are too slow for what comes due at once.',
    },
    {
      ...{ name: 'FencepostLastSuccessTooOld', expr: `${age} > ${allowed}`, holds: '5m', severity: 'critical' },
      summary: '{{ $labels.cron }} has not succeeded for {{ $value | humanizeDuration }}.',
      description:
        'That is more than twice as long as its schedule leaves between two instants. It counts from the last success, or from when the cron was made or its pause ended.',
      runbook: 'stuck-cron',
    },
  ];
}

function runs(m) {
  const failed = ask({
    of: m.runs,
    where: { status: 'failed' },
    by: ['cron'],
    as: 'sum',
    over: 'increase',
    range: '1h',
  });
  // The ledger knows of runs whose worker died: no process has counted them.
  const inARow = ask({ of: m.consecutiveFailures, by: ['cron'], as: 'max' });
  const waiting = { of: m.queueJobs, where: { state: 'waiting' }, as: 'max' };
  const growing = ask({ ...waiting, over: 'deriv', range: '15m' });
  return [
    {
      ...{
        name: 'FencepostRunsFailing',
        expr: `${failed} > 0 or ${inARow} > 0`,
        holds: '0m',
        severity: 'warning',
        runbook: 'stuck-cron',
      },
      summary: '{{ $labels.cron }} has failed, and is not tried again.',
      description:
        'All its attempts are used up. "fencepost failed" lists such runs, and "fencepost retry" runs one again.',
    },
    {
      ...{ name: 'FencepostQueueGrowing', expr: `${ask(waiting)} > 100 and ${growing} > 0`, holds: '10m' },
      ...{ severity: 'warning', runbook: 'queue-grows' },
      summary: '{{ $value }} runs wait for a worker, and there are more and more of them.',
      description: 'The workers do not keep up: too few of them, too little concurrency, or runs that hang.',
    },
  ];
}

function stores(m) {
  const troubles = ask({ of: m.storeTroubles, by: ['store'], as: 'sum', over: 'increase', range: '5m' });
  const errors = ask({ of: m.programErrors, by: ['instance'], as: 'sum', over: 'increase', range: '15m' });
  const dropped = ask({ of: m.journalDropped, as: 'sum', over: 'increase', range: '15m' });
  return [
    {
      ...{
        name: 'FencepostStoreTrouble',
        expr: `${troubles} > 10`,
        holds: '2m',
        severity: 'critical',
        runbook: 'redis-lost',
      },
      summary: 'The {{ $labels.store }} does not answer.',
      description: 'Without it nothing is claimed, begun or recorded. It goes on by itself when the store is back.',
    },
    {
      ...{ name: 'FencepostProgramError', expr: `${errors} > 0`, holds: '0m', severity: 'warning' },
      summary: '{{ $labels.instance }} has met an error of the program itself.',
      description:
        'No store has caused it, so it does not go away with one. The pod goes on; its log has the stack as "program_error".',
      runbook: 'program-error',
    },
    {
      ...{ name: 'FencepostJournalDropping', expr: `${dropped} > 0`, holds: '15m', severity: 'warning' },
      summary: 'The journal leaves out what happens.',
      description: 'More happens than it takes. Runs are not concerned; the page and "fencepost tail" do not show all.',
      runbook: 'queue-grows',
    },
  ];
}

function clocksAndNodes(m) {
  return [
    {
      ...{
        name: 'FencepostClockSkew',
        expr: `abs(${ask({ of: m.clockSkew })}) > 0.5`,
        holds: '5m',
        severity: 'warning',
      },
      summary: 'The clock of {{ $labels.instance }} is {{ $value | humanizeDuration }} off.',
      description: 'Nothing runs twice by it: the clock of the store decides. But what this pod holds fires late.',
      runbook: 'clock-skew',
    },
    {
      ...{
        name: 'FencepostNodeLeftOut',
        expr: `${ask({ of: m.nodeHealth, by: ['node'], as: 'min' })} == 0`,
        holds: '5m',
      },
      ...{ severity: 'warning', runbook: 'failover' },
      summary: 'The quorum does without its node {{ $labels.node }}.',
      description: 'The next one that fails may cost the majority, and then nobody gets a lease.',
    },
  ];
}
