/**
 * What may import what: packages downwards only, and by the entries that they export.
 * Each rule has a planted violation in `test/repository/boundaries.spec.ts`, which fails for a rule that has none.
 */

const SPEC = '\\.(spec|contract|stage)\\.ts$';
const PACKAGES = '^(libs|apps)/';
/** What each library may import of the others, by their entries. */
const LIBS = {
  client: [],
  lease: [],
  schedule: [],
  ledger: ['lease', 'schedule'],
  jobs: ['lease', 'schedule', 'ledger'],
  operations: ['lease', 'schedule', 'ledger', 'jobs'],
  testing: ['lease', 'schedule', 'ledger', 'jobs', 'operations'],
  pod: ['lease', 'schedule', 'ledger', 'jobs', 'operations'],
  console: ['lease', 'ledger', 'jobs', 'operations', 'client'],
};
/** The suite that any ledger has to pass: for tests of those who write one, and by an entry of its own. */
const LEDGER_CONTRACT = '^libs/testing/src/ledger-contract/';

/** Files that decide and never touch: the same arguments give the same answer on every machine and at every hour. */
const PURE = [
  '^libs/schedule/src/',
  '^libs/ledger/src/base/run-state\\.ts$',
  '^libs/jobs/src/scheduling/(misfire|overlap|due-index)\\.ts$',
  '^libs/lease/src/(base/(fence|clock|errors|resource)|store/(grant|lease-store))\\.ts$',
];

/** What each folder of a package may import of its package, besides itself; two folders never import each other. */
const LAYERS = {
  'libs/lease': {
    base: [],
    lua: ['base'],
    sql: ['base'],
    telemetry: ['base'],
    store: ['base'],
    postgres: ['base', 'sql', 'store'],
    etcd: ['base', 'store'],
    zookeeper: ['base', 'store'],
    consul: ['base', 'store'],
    redis: ['base', 'lua', 'store', 'telemetry'],
    quorum: ['base', 'redis', 'store', 'telemetry'],
    holding: ['base', 'store', 'telemetry'],
    sinks: ['base', 'lua', 'postgres', 'redis', 'sql', 'store', 'telemetry'],
    coordination: ['base', 'holding', 'lua', 'redis', 'sinks', 'store'],
    connect: ['base', 'holding', 'redis', 'store', 'telemetry'],
    place: ['base', 'connect', 'consul', 'etcd', 'quorum', 'redis', 'store', 'telemetry', 'zookeeper'],
    nest: ['base', 'connect', 'holding', 'store', 'telemetry'],
    http: ['base', 'sinks'],
    metrics: ['base', 'telemetry'],
    testing: ['base', 'holding', 'store'],
    internal: ['base', 'connect', 'coordination', 'holding', 'place', 'redis', 'store', 'telemetry'],
  },
  'libs/ledger': {
    base: [],
    catalog: ['base'],
    memory: ['base', 'catalog'],
    redis: ['base', 'catalog'],
    // A deployment that kept its catalog in Redis is taken over from there.
    postgres: ['base', 'catalog', 'redis'],
  },
  'libs/jobs': {
    telemetry: [],
    membership: ['telemetry'],
    pods: ['telemetry'],
    queue: ['pods', 'telemetry'],
    schedules: ['telemetry'],
    // Its entry has what tests of other packages need in memory.
    scheduling: ['membership', 'pods', 'queue', 'schedules', 'telemetry'],
    shadow: ['membership', 'scheduling'],
    notifying: ['queue', 'telemetry'],
    declaring: ['membership', 'pods', 'telemetry'],
    running: ['queue', 'telemetry'],
    enqueuing: ['membership', 'queue', 'running', 'telemetry'],
    nest: [
      ...['declaring', 'enqueuing', 'membership', 'notifying', 'pods', 'queue', 'running', 'scheduling', 'shadow'],
      'telemetry',
    ],
  },
  'libs/operations': {
    alarms: [],
    audit: [],
    journal: [],
    operating: ['alarms', 'audit', 'journal'],
    presenting: ['alarms', 'journal', 'operating'],
    nest: ['alarms', 'journal', 'operating'],
    metrics: ['nest'],
  },
  'libs/console': {
    http: [],
    auth: ['http'],
    api: ['auth', 'http'],
    board: ['api', 'auth', 'http'],
  },
};

/** One walks the path of an occurrence file by file, which it counts; the other keeps the spec files of a process apart. */
const PAST_THE_ENTRIES = ['^test/repository/short-path\\.spec\\.ts$', '^test/support/decorated-of-file\\.ts$'];

function boundariesOf([lib, below]) {
  const { exports: entries } = require(`./libs/${lib}/package.json`);
  const files = Object.values(entries).map((entry) => entry['@fencepost/source'].slice(2).replaceAll('.', '\\.'));
  return [
    {
      name: `never-back-from-${lib}`,
      comment: `libs/${lib} imports ${below.map((name) => `libs/${name}`).join(', ') || 'no other package'}.`,
      severity: 'error',
      from: { path: `^libs/${lib}/`, pathNot: SPEC },
      to: { path: `^(libs/(?!(${[lib, ...below].join('|')})/)|apps/|test/|bench/|examples/)` },
    },
    {
      name: `${lib}-by-its-entries`,
      comment: `Import an entry that libs/${lib}/package.json exports: the rest may change without notice, for specs too.`,
      severity: 'error',
      from: { path: `^(apps|bench|examples|test|libs/(?!${lib}/))`, pathNot: PAST_THE_ENTRIES },
      to: { path: `^libs/${lib}/`, pathNot: `^libs/${lib}/(${files.join('|')})$` },
    },
  ];
}

function layersOf([workspace, folders]) {
  return Object.entries(folders).map(([folder, below]) => ({
    name: `${workspace}/${folder}`,
    comment: `Of ${workspace}, ${folder} imports ${below.join(', ') || 'nothing'}: what it needs of another folder belongs below both.`,
    severity: 'error',
    from: { path: `^${workspace}/src/${folder}/`, pathNot: SPEC },
    to: { path: `^${workspace}/src/`, pathNot: `^${workspace}/src/(${[folder, ...below].join('|')})/` },
  }));
}

/** A package by its name, found in node_modules or not. */
function npm(...names) {
  return `(^|node_modules/)(${names.join('|')})(/|$)`;
}

/** Only these files may import those packages: with them goes the knowledge of a server's ways and failures. */
function confined(name, { packages, to, why }) {
  return {
    name,
    comment: why,
    severity: 'error',
    from: { path: PACKAGES, pathNot: [...to, SPEC] },
    to: { path: npm(...packages) },
  };
}

module.exports = {
  libs: LIBS,
  layers: LAYERS,
  forbidden: [
    ...Object.entries(LIBS).flatMap(boundariesOf),
    {
      name: 'nothing-needs-testing',
      comment: 'libs/testing is for specs, and for the command that tortures a job.',
      severity: 'error',
      from: { path: '^(libs/(?!testing/)|apps/(?!cli/))', pathNot: SPEC },
      to: { path: '^libs/testing/' },
    },
    {
      name: 'apps-are-islands',
      comment: 'An app is deployed alone; what two of them need belongs into a lib.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: SPEC },
      to: { path: '^(apps/(?!$1/)|test/|bench/|examples/)' },
    },
    {
      name: 'pure-without-io',
      comment:
        'A pure file may use other pure values, node:crypto for a hash, cron-parser and zod, and no other package.',
      severity: 'error',
      from: { path: PURE, pathNot: SPEC },
      to: {
        dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-peer', 'npm-no-pkg', 'npm-unknown', 'unknown'],
        dependencyTypesNot: ['type-only'],
        pathNot: ['^(node:)?crypto$', npm('cron-parser', 'zod', '@nestjs')],
      },
    },
    {
      name: 'pure-without-nest',
      comment: 'What decides is called by Nest and does not know it.',
      severity: 'error',
      from: { path: PURE, pathNot: SPEC },
      to: { path: npm('@nestjs') },
    },
    {
      name: 'pure-without-clock',
      comment: 'Instants come as arguments; the type of a Clock may be named, one that ticks may not be imported.',
      severity: 'error',
      from: { path: PURE, pathNot: SPEC },
      to: { path: '^libs/lease/src/base/clock\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'audit-by-itself',
      comment:
        'An auditor that shares code with what it audits shares its bugs; the pure schedule is common, and types are.',
      severity: 'error',
      from: { path: '^libs/operations/src/audit/', pathNot: SPEC },
      to: {
        path: '^libs/(jobs|ledger|operations)/src/',
        pathNot: '^libs/(operations/src/audit/|ledger/src/run-record\\.ts$)',
        dependencyTypesNot: ['type-only'],
      },
    },
    ...Object.entries(LAYERS).flatMap(layersOf),
    confined('ioredis-in-redis-files', {
      packages: ['ioredis'],
      to: ['/redis-[^/]+\\.ts$', '\\.module\\.ts$'],
      why: 'ioredis re-sends commands, times out and reconnects in its own ways; redis-*.ts and the modules deal with them.',
    }),
    confined('bullmq-in-the-queue', {
      packages: ['bullmq', '@nestjs/bullmq'],
      to: [
        '^libs/jobs/src/queue/bullmq-run-queue\\.ts$',
        '^libs/operations/src/alarms/(bullmq-alarm-queue|alarm\\.processor)\\.ts$',
        '^libs/jobs/src/running/[^/]+\\.processor\\.ts$',
        '^apps/.*\\.module\\.ts$',
      ],
      why: 'A BullMQ job is a delivery and never the truth; only the queue and the processor speak of it.',
    }),
    confined('bull-board-in-its-module', {
      packages: ['@bull-board'],
      to: ['^libs/console/src/board/'],
      why: 'The board is a guest in the scheduler app.',
    }),
    confined('pg-in-postgres-files', {
      packages: ['pg'],
      to: ['/postgres-[^/]+\\.ts$'],
      why: 'PostgreSQL is one of several stores behind a port.',
    }),
    confined('opentelemetry-in-its-files', {
      packages: ['@opentelemetry', 'bullmq-otel'],
      to: ['/open-telemetry[^/]*\\.ts$'],
      why: 'Tracing is optional: who does not want it has none of these packages, and only what is loaded on demand may need them.',
    }),
    confined('prom-client-in-metrics', {
      packages: ['prom-client'],
      to: ['/metrics/', '/metrics\\.controller\\.ts$'],
      why: 'Prometheus is optional: only the entry of the metrics needs its client.',
    }),
    {
      name: 'no-circle',
      comment: 'Files in a circle can only be understood, tested and moved together.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-test-in-production',
      comment: 'A spec or a contract is not shipped, so what is shipped may not need it.',
      severity: 'error',
      from: { path: PACKAGES, pathNot: [SPEC, LEDGER_CONTRACT] },
      to: { path: [SPEC, LEDGER_CONTRACT, npm('vitest', 'fast-check')] },
    },
    {
      name: 'everything-resolves',
      comment: 'What the cruiser cannot find it cannot judge.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|bundle|\\.cache|coverage)/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      conditionNames: ['@fencepost/source', 'import', 'node', 'default', 'types'],
      exportsFields: ['exports'],
    },
  },
};
