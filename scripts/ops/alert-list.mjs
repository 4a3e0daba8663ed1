import { definitionAlerts } from './definition-alerts.mjs';
import { doubtAlerts } from './doubt-alerts.mjs';
import { ask, grouping, grown, quantile } from './promql.mjs';

/**
 * @typedef {object} Alert
 * @property {string} name
 * @property {string} expr
 * @property {string} holds how long it has to be so
 * @property {'critical' | 'warning'} severity
 * @property {string} summary
 * @property {string} description what it means, and what is in danger
 * @property {string} runbook the section of the runbook
 * @property {Readonly<Record<string, string>>} [labels] besides its severity
 * @property {Readonly<Record<string, string>>} [annotations] besides those that every alert has
 */

/**
 * What somebody at night has to know: first what no longer runs, then what may have run twice, then what is about to fail.
 * @param {typeof import('../../libs/operations/src/metrics/metric-list.ts').METRICS} m
 * @returns {readonly Alert[]}
 */
export function alertList(m) {
  const alerts = [
    ...[...pods(m), ...active(m), ...outcomes(m), ...doubtAlerts(m), ...runs(m)],
    ...[...definitionAlerts(m), ...stores(m), ...clocks(m)],
  ];
  return alerts.map((alert) =>
    alert.summary.includes('$labels.cron ') ? { ...alert, ...tagged(m), ...owned(m) } : alert,
  );
}

/** The cron that an alert is about: two deployments may have one of the same name. */
const OF_IT = 'cron=%q, deployment=%q';
const WHOSE = '$labels.cron $labels.deployment';

/**
 * The tags of the cron that an alert is about, such as ",billing,eu,": a route or a silence matches ".*,billing,.*". In order, and of
 * the last hour: an alert with other labels would be another alert.
 */
function tagged(m) {
  const { name } = m.tagsInfo;
  const asked = `printf "max by (tag) (last_over_time(${name}{${OF_IT}}[1h]))" ${WHOSE} | query | sortByLabel "tag"`;
  return { labels: { tags: `,{{ range ${asked} }}{{ .Labels.tag }},{{ end }}` } };
}

/** Owner and runbook of the cron that an alert is about, as they were shown last within the hour. No labels: they may change. */
function owned(m) {
  const seen = `max_over_time(timestamp(${m.cronInfo.name}{${OF_IT}})[1h:1m])`;
  const asked = `printf "topk(1, max by (owner, runbook_url) (${seen}))" ${WHOSE} | query`;
  const said = (label) => `{{ range ${asked} }}{{ .Labels.${label} }}{{ end }}`;
  return { annotations: { owner: said('owner'), cron_runbook_url: said('runbook_url') } };
}

function pods(m) {
  // A pod that can't read how many there are shows no number: that is the alert about the store. Of every pod there is this one.
  // Where a whole deployment is gone, others may be there: it is known by what it showed within the last hour.
  const seen = ask({ of: m.programErrors, as: 'max', over: 'max_over_time', range: '1h' });
  const gone = `(${seen} unless ${ask({ of: m.programErrors, as: 'max' })})`;
  const none = (role) =>
    `${ask({ of: m.pods, where: { role }, as: 'max' })} == 0 or ${gone} or absent(${ask({ of: m.programErrors })})`;
  return [
    {
      ...{
        name: 'FencepostNoScheduler',
        expr: none('scheduler'),
        holds: '1m',
        severity: 'critical',
        runbook: 'no-pod',
      },
      summary: 'No scheduler pod is running, or no pod is scraped.',
      description: 'No cron fires. The misfire policy of each cron decides about instants that come due now.',
    },
    {
      ...{ name: 'FencepostNoWorker', expr: none('worker'), holds: '1m', severity: 'critical', runbook: 'no-pod' },
      summary: 'No worker pod is running, or no pod is scraped.',
      description: 'Crons fire, but no worker executes their runs: they wait in the queue.',
    },
  ];
}

function active(m) {
  const crons = `sum ${grouping()} (${ask({ of: m.definitions, by: ['state'], as: 'max' })})`;
  const held = `(${ask({ of: m.leaseHeld, as: 'sum' })} or 0 * ${crons})`;
  const causes = m.cronStandstill.labels.cause.filter((cause) => cause !== 'paused');
  const where = { cause: `~${causes.join('|')}` };
  const standing = ask({ of: m.cronStandstill, where, by: ['cron', 'cause'], as: 'max' });
  const overdue = `time() - ${ask({ of: m.nextFire, by: ['cron'], as: 'min' })}`;
  return [
    {
      ...{ name: 'FencepostCronWithoutHolder', expr: `${crons} - ${held} > 0`, holds: '2m', severity: 'critical' },
      summary: '{{ $value }} crons are held by no scheduler pod.',
      description:
        'They do not fire. Either their leases cannot be acquired, or the pods are too busy to hold all crons.',
      runbook: 'stuck-cron',
    },
    {
      ...{ name: 'FencepostFireOverdue', expr: `${overdue} > 120`, holds: '1m', severity: 'critical' },
      summary: '{{ $labels.cron }} was due {{ $value | humanizeDuration }} ago, and is not accounted for.',
      description:
        'Its holder has neither claimed the instant nor recorded a reason: it cannot reach its store, or is stuck.',
      runbook: 'stuck-cron',
    },
    {
      ...{ name: 'FencepostCronStandstill', expr: `${standing} > 0`, holds: '1m', severity: 'critical' },
      summary: '{{ $labels.cron }} stands still: {{ $labels.cause }}.',
      description: 'It should have run and did not, or its run does not end. "fencepost doctor" has the sentence.',
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
      expr: grown({ of: m.fires, where: { outcome: 'missed' }, by: ['cron'], range: '15m' }),
      ...{ holds: '0m', severity: 'warning', runbook: 'stuck-cron' },
      summary: '{{ $labels.cron }} has missed instants that will not run.',
      description:
        'No pod claimed them in time, and the misfire policy does not make up for them. "fencepost why" explains each one.',
    },
    {
      name: 'FencepostFiresLate',
      expr: `${quantile(0.99, { of: m.fireDelay, range: '10m' })} > 5`,
      ...{ holds: '10m', severity: 'warning', runbook: 'stuck-cron' },
      summary: 'One in a hundred instants is claimed {{ $value | humanizeDuration }} late.',
      description: 'The scheduler pods or their store are too slow for the number of crons due at once.',
    },
    {
      ...{ name: 'FencepostLastSuccessTooOld', expr: `${age} > ${allowed}`, holds: '5m', severity: 'critical' },
      summary: '{{ $labels.cron }} has not succeeded for {{ $value | humanizeDuration }}.',
      description:
        'That is more than twice its period. It counts from the last success, from when the cron was created, or from the end of its pause.',
      runbook: 'stuck-cron',
    },
  ];
}

function runs(m) {
  const failed = grown({ of: m.runs, where: { status: 'failed' }, by: ['cron'], range: '60m' });
  // The ledger knows of runs whose worker died: no process has counted them.
  const inARow = ask({ of: m.consecutiveFailures, by: ['cron'], as: 'max' });
  const waiting = { of: m.queueJobs, where: { state: 'waiting' }, as: 'max' };
  const growing = ask({ ...waiting, over: 'deriv', range: '15m' });
  return [
    {
      ...{
        name: 'FencepostRunsFailing',
        expr: `${failed} or ${inARow} > 0`,
        holds: '0m',
        severity: 'warning',
        runbook: 'stuck-cron',
      },
      summary: '{{ $labels.cron }} has failed, with no attempts left.',
      description: '"fencepost failed" lists such runs, "fencepost retry" runs one again.',
    },
    {
      ...{ name: 'FencepostQueueGrowing', expr: `${ask(waiting)} > 100 and ${growing} > 0`, holds: '10m' },
      ...{ severity: 'warning', runbook: 'queue-grows' },
      summary: '{{ $value }} runs wait for a worker, and their number grows.',
      description: 'The workers do not keep up: too few workers, too little concurrency, or runs that hang.',
    },
  ];
}

function stores(m) {
  const failures = ask({ of: m.storeFailures, by: ['store'], as: 'sum', over: 'increase', range: '5m' });
  const errors = grown({ of: m.programErrors, by: ['instance'], range: '15m' });
  const dropped = ask({ of: m.journalDropped, as: 'sum', over: 'increase', range: '15m' });
  return [
    {
      ...{
        name: 'FencepostStoreTrouble',
        expr: `${failures} > 10`,
        holds: '2m',
        severity: 'critical',
        runbook: 'redis-lost',
      },
      summary: 'The store of the {{ $labels.store }} does not answer.',
      description:
        'Nothing is claimed, begun or recorded until it is back. No pod needs a restart. ' +
        'The label operation of fencepost_store_failures_total names the calls that fail.',
    },
    {
      ...{ name: 'FencepostProgramError', expr: errors, holds: '0m', severity: 'warning' },
      summary: '{{ $labels.instance }} had an unexpected error in the program itself.',
      description: 'No store caused it. The pod continues; its log has the stack as "program_failed".',
      runbook: 'program-error',
    },
    {
      ...{ name: 'FencepostJournalDropping', expr: `${dropped} > 0`, holds: '15m', severity: 'warning' },
      summary: 'The journal drops events.',
      description:
        'There are more events than it stores. Runs are not affected; the page and "fencepost tail" are incomplete.',
      runbook: 'queue-grows',
    },
  ];
}

function clocks(m) {
  return [
    {
      ...{
        name: 'FencepostClockSkew',
        expr: `abs(${ask({ of: m.clockSkew })}) > 0.5`,
        holds: '5m',
        severity: 'warning',
      },
      summary: 'The clock of {{ $labels.instance }} is {{ $value | humanizeDuration }} off.',
      description:
        'Nothing runs twice because of it: the clock of the store decides. Crons that this pod holds may fire late.',
      runbook: 'clock-skew',
    },
  ];
}

/**
 * Of a quorum of Redis, for pods that keep the leases of crons on one: nobody else has its metric.
 * @param {typeof import('../../libs/operations/src/metrics/metric-list.ts').METRICS} m
 * @returns {readonly Alert[]}
 */
export function quorumAlerts(m) {
  return [
    {
      ...{
        name: 'FencepostNodeLeftOut',
        expr: `${ask({ of: m.nodeHealth, by: ['node'], as: 'min' })} == 0`,
        holds: '5m',
      },
      ...{ severity: 'warning', runbook: 'failover' },
      summary: 'The quorum does not ask its node {{ $labels.node }}, which fails.',
      description: 'If another node fails, the majority may be lost, and no lease can be acquired.',
    },
  ];
}
