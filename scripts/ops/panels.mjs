import * as promql from './promql.mjs';

const RATE = '$__rate_interval';

/** Of the deployments that somebody has chosen above. */
const inChosen = (question) => ({ ...question, where: { deployment: '~$deployment', ...question.where } });
const ask = (question) => promql.ask(inChosen(question));
const quantile = (part, question) => promql.quantile(part, inChosen(question));

/** Of the crons that somebody has chosen above. */
const CHOSEN = { cron: '~$cron' };

/** Not by the second: a cron of a day has no rate. */
const perWindow = (question) => ask({ ...question, as: 'sum', over: 'increase', range: RATE });

/**
 * @typedef {object} Panel
 * @property {string} title
 * @property {'stat' | 'timeseries' | 'table'} type
 * @property {string} unit as Grafana calls it
 * @property {readonly (readonly [expr: string, legend: string])[]} shows
 * @property {string} [description]
 * @property {number} [alarmAt] red from here on
 */

/**
 * Rows of panels: what is wrong now, then what fires, what runs, who holds it, and what all of it stands on.
 * @param {typeof import('../../libs/operations/src/metrics/metric-list.ts').METRICS} m
 * @returns {readonly { readonly title: string, readonly panels: readonly Panel[] }[]}
 */
export function rows(m) {
  return [
    { title: 'Now', panels: now(m) },
    { title: 'Schedules', panels: active(m) },
    { title: 'Runs and effects', panels: running(m) },
    { title: 'Definitions', panels: definitions(m) },
    { title: 'Leases', panels: leases(m) },
    { title: 'Queue, stores and clocks', panels: stores(m) },
  ];
}

const stat = (title, expr, more = {}) => ({ title, type: 'stat', unit: 'none', shows: named([[expr, '']]), ...more });
const lines = (title, shows, more = {}) => ({ title, type: 'timeseries', unit: 'none', shows: named(shows), ...more });
const named = (shows) => shows.map(([expr, legend]) => [expr, `{{deployment}} ${legend}`.trim()]);

function now(m) {
  const crons = `sum ${promql.grouping()} (${ask({ of: m.definitions, by: ['state'], as: 'max' })})`;
  const held = `(${ask({ of: m.leaseHeld, as: 'sum' })} or 0 * ${crons})`;
  const pods = (role) => ask({ of: m.pods, where: { role }, as: 'max' });
  return [
    stat('Schedulers', pods('scheduler')),
    stat('Workers', pods('worker')),
    stat('Active crons', ask({ of: m.definitions, where: { state: 'active' }, as: 'max' })),
    stat('Crons without a holder', `${crons} - ${held}`, { alarmAt: 1 }),
    stat('Most overdue', `clamp_min(time() - ${ask({ of: m.nextFire, as: 'min' })}, 0)`, { unit: 's', alarmAt: 60 }),
    stat('Latest due cron', ask({ of: m.dueLateness, as: 'max' }), { unit: 's', alarmAt: 10 }),
    stat('Due crons that wait', ask({ of: m.dueBacklog, as: 'sum' })),
    stat('Lease store fails for', ask({ of: m.leaseStoreDown, as: 'max' }), { unit: 's', alarmAt: 60 }),
    stat('Uncertain runs', ask({ of: m.uncertainRuns, as: 'sum' }), {
      alarmAt: 1,
      description: 'They wait for an operator to resolve an effect.',
    }),
  ];
}

function active(m) {
  const fires = (where, by) => perWindow({ of: m.fires, where: { ...CHOSEN, ...where }, by });
  return [
    lines('Instants by outcome', [[fires({}, ['outcome']), '{{outcome}}']]),
    lines('Missed', [[fires({ outcome: 'missed' }, ['cron']), '{{cron}}']], {
      description: 'No pod claimed them in time, and their misfire policy does not make up for them.',
    }),
    lines(
      'Start delay: due to claimed',
      [
        [quantile(0.5, { of: m.fireDelay, range: RATE }), 'p50'],
        [quantile(0.99, { of: m.fireDelay, range: RATE }), 'p99'],
      ],
      { unit: 's' },
    ),
    lines('Redelivered runs', [[perWindow({ of: m.redeliveries }), 'redelivered']], {
      description: 'Their worker or their delivery was lost.',
    }),
  ];
}

function running(m) {
  const age = `time() - ${ask({ of: m.lastSuccess, where: CHOSEN, by: ['cron'], as: 'max' })}`;
  const tags = ask({ of: m.tagsInfo, where: CHOSEN, by: ['cron', 'tag'], as: 'max' });
  const owners = ask({ of: m.cronInfo, where: CHOSEN, by: ['cron', 'owner'], as: 'max' });
  const failures = perWindow({ of: m.runs, where: { ...CHOSEN, status: 'failed' }, by: ['cron'] });
  const interval = ask({ of: m.fireInterval, where: CHOSEN, by: ['cron'], as: 'max' });
  return [
    lines('Runs by status', [[perWindow({ of: m.runs, where: CHOSEN, by: ['status'] }), '{{status}}']]),
    lines('Failed runs', [[failures, '{{cron}}']]),
    lines('Failed runs, by tag', [[joined('tag', tags, failures), '{{tag}}']]),
    lines('Failed runs, by owner', [[joined('owner', owners, failures), '{{owner}}']]),
    lines(
      'Duration p95',
      [[quantile(0.95, { of: m.runDuration, where: CHOSEN, by: ['cron'], range: RATE }), '{{cron}}']],
      { unit: 's' },
    ),
    lines('Retries', [[perWindow({ of: m.retries, where: CHOSEN, by: ['cron'] }), '{{cron}}']]),
    lines('Effects', [[perWindow({ of: m.effects, by: ['outcome'] }), '{{outcome}}']]),
    { ...lines('Time since the last success', [[age, '{{cron}}']], { unit: 's' }), type: 'table' },
    { ...lines('Interval between instants', [[interval, '{{cron}}']], { unit: 's' }), type: 'table' },
  ];
}

/** Of each cron, what is said of it, times what is counted. */
function joined(label, said, counted) {
  return `sum ${promql.grouping([label])} (${said} * on (deployment, cron) group_left () ${counted})`;
}

function definitions(m) {
  const pods = ask({ of: m.revisionPods, by: ['app', 'revision'], as: 'max' });
  return [
    lines('Live pods, by revision', [[pods, '{{app}} {{revision}}']]),
    lines('Changed definitions', [[perWindow({ of: m.catalogChanges, by: ['app', 'change'] }), '{{app}} {{change}}']]),
    lines(
      'Contested definitions',
      [[perWindow({ of: m.catalogConflicts, by: ['app', 'conflict'] }), '{{app}} {{conflict}}']],
      { description: 'Crons that pods declare and another declaration decides.' },
    ),
  ];
}

function leases(m) {
  return [
    lines('Crons held, by pod', [[ask({ of: m.leaseHeld, by: ['instance'], as: 'sum' }), '{{instance}}']]),
    lines('Lease transitions', [[perWindow({ of: m.leaseTransitions, by: ['transition'] }), '{{transition}}']]),
    lines(
      'Stale writes refused',
      [
        [perWindow({ of: m.fenceRejections, where: CHOSEN, by: ['cron', 'at'] }), '{{cron}} at the {{at}}'],
        [perWindow({ of: m.leaseRejected, by: ['downstream'] }), 'by {{downstream}}'],
      ],
      { description: 'Each is a prevented duplicate.' },
    ),
    lines('Acquire requests', [
      [perWindow({ of: m.leaseAcquire, by: ['outcome'] }), '{{outcome}}'],
      [perWindow({ of: m.leaseContention }), 'held by another'],
    ]),
    lines('Renewals', [[perWindow({ of: m.leaseExtend, by: ['outcome'] }), '{{outcome}}']]),
    lines('Releases', [
      [perWindow({ of: m.leaseRelease, by: ['outcome'] }), '{{outcome}}'],
      [perWindow({ of: m.leaseStaleRelease }), 'after expiry'],
      [perWindow({ of: m.leaseUnreleased }), 'never'],
    ]),
    lines('Leases lost', [[perWindow({ of: m.leaseLost, by: ['reason'] }), '{{reason}}']]),
    lines(
      'Acquire duration p99',
      [
        [
          quantile(0.99, { of: m.leaseDuration, by: ['resource_type', 'outcome'], range: RATE }),
          '{{resource_type}} {{outcome}}',
        ],
      ],
      { unit: 's' },
    ),
    ...heldFor(m),
  ];
}

function heldFor(m) {
  return [
    lines(
      'Hold time p95',
      [[quantile(0.95, { of: m.leaseHoldTime, by: ['resource_type'], range: RATE }), '{{resource_type}}']],
      { unit: 's' },
    ),
    lines('Leases held over their budget', [
      [ask({ of: m.leaseOverBudget, by: ['resource_type'], as: 'sum' }), '{{resource_type}}'],
    ]),
    lines(
      'Oldest lease held for',
      [[`time() - ${ask({ of: m.leaseHeldSince, by: ['resource_type'], as: 'min' })}`, '{{resource_type}}']],
      { unit: 's' },
    ),
  ];
}

function stores(m) {
  return [
    lines('Queue jobs by state', [[ask({ of: m.queueJobs, by: ['state'], as: 'max' }), '{{state}}']]),
    lines('Failed calls', [
      [perWindow({ of: m.storeFailures, by: ['store', 'operation'] }), '{{store}} {{operation}}'],
    ]),
    lines('Program errors', [[perWindow({ of: m.programErrors, by: ['instance'] }), '{{instance}}']], {
      description: 'Not caused by a store; the log of the pod has their stacks.',
    }),
    lines('Clock skew', [[ask({ of: m.clockSkew, by: ['instance'], as: 'max' }), '{{instance}}']], {
      unit: 's',
    }),
    lines('Events dropped from the journal', [[perWindow({ of: m.journalDropped }), 'events']]),
    stat('Crons counted as other', ask({ of: m.otherCrons, as: 'max' })),
  ];
}

/** As `quorumAlerts`. */
export function quorumPanels(m) {
  return [lines('Quorum nodes', [[ask({ of: m.nodeHealth, by: ['node'], as: 'min' }), '{{node}}']])];
}
