/** @typedef {import('../../libs/operations/src/metrics/cron-metrics.ts').MetricSpec} MetricSpec */

const INTRO = `# Metrics

\`npm run ops\` generates this page from the list that also registers the metrics. Every pod serves its own metrics at
\`GET /metrics\`, in the text format of Prometheus, together with those of its process (\`process_*\`, \`nodejs_*\`). All
metrics of Fencepost begin with \`fencepost_\` and count in base units: seconds.

**Access.** Open on loopback. Elsewhere it needs a viewer's token (\`Authorization: Bearer …\`) or \`FENCEPOST_METRICS_OPEN=true\`. The
metrics contain cron names and run outcomes, and no payloads or holders.

**Deployment.** Every metric of Fencepost has the label \`deployment\`, prefix and tenant as in \`fencepost:default\`. Group by it: several
deployments may be in one Prometheus, with crons of the same name, and what is well in one says nothing of another. The rules and the
dashboard do, and the dashboard chooses among them.

**From 0.** The counters of each cron and each outcome exist from the first scrape on, at 0: to Prometheus, the step from no series to 1 is
no increase. What a pod counts before it is first scraped is counted by the alerts that ring for a single event: they take the whole
value of a process that is younger than their window. Your own application needs \`collectDefaultMetrics()\` of \`prom-client\` for that.

**Number of series.** A cron has about 20. \`FENCEPOST_METRICS_CRONS\` sets how many crons have series of their own: \`all\`, \`none\`, or
a number (default 200). The others are counted together as \`cron="other"\`, so sums cover all crons. Crons with \`expectEvery\` come
first, then those that fire least often, because a sum hides one failed nightly run. All pods choose the same crons, and removing a
cron removes its series. With 10,000 crons, \`all\` is about 200,000 series per pod.

**Aggregation.** One scheduler pod holds each cron, so use \`sum\` over pods for counters, \`fencepost_cron_lease_held\` and
\`fencepost_uncertain_runs\`. Use \`max\` for gauges that are "the same for every pod". A gauge that cannot be read within 2 s is left out,
and \`fencepost_store_failures_total\` counts the failure.

**Tags.** \`fencepost_cron_tags_info{cron, tag}\` is 1 for each tag of a cron that has series of its own. Join it to alert or group by tag:

\`\`\`promql
# Failures of the crons with the tag "billing"
sum by (deployment, cron) (increase(fencepost_runs_total{status="failed"}[10m])) > 0
  and on (deployment, cron) fencepost_cron_tags_info{tag="billing"}
# Runs per second, by tag; a cron with two tags counts in both
sum by (deployment, tag) (
  max by (deployment, cron, tag) (fencepost_cron_tags_info)
  * on (deployment, cron) group_left () sum by (deployment, cron) (rate(fencepost_runs_total[5m]))
)
\`\`\`

An alert about one cron has its tags as the label \`tags\`, such as \`,billing,eu,\`, or \`,\` without any. It keeps them for an hour after the
last scheduler that shows them is gone. Route or silence a tag in Alertmanager with \`tags=~".*,billing,.*"\`. A mute
(\`fencepost mute --tag billing\`) silences what Fencepost itself sends; Prometheus does not know of it.

**Owner and runbook.** \`fencepost_cron_info{cron, owner, runbook_url}\` is 1 for each such cron with an \`owner\` or a \`runbookUrl\`. An alert about
one cron has them as the annotations \`owner\` and \`cron_runbook_url\`; its \`runbook_url\` is that of Fencepost. A rule of your own joins them:

\`\`\`promql
(sum by (deployment, cron) (increase(fencepost_runs_total{status="failed"}[10m])) > 0)
  * on (deployment, cron) group_left (owner, runbook_url) max by (deployment, cron, owner, runbook_url) (fencepost_cron_info)
\`\`\`

**Definitions.** \`fencepost_revision_pods{app, revision}\` has the live pods of each revision, for at most 100 revisions; the pods of the others are
\`app="other", revision="other"\`. \`fencepost_catalog_changes_total\` and \`fencepost_catalog_conflicts_total\` count crons, in the pod that decides, under its
own app. [The runbook](operating.md#definitions) has a section for each.

\`ops/\` contains a Grafana dashboard (\`ops/grafana/fencepost.json\`) and Prometheus rules (\`ops/prometheus/alerts.yml\`), generated from
the same list. Your own application serves these metrics with \`MetricsModule.on(jobs)\` from \`@fencepost/operations/metrics\`, which needs the
package \`prom-client\`.
`;

const ALIASES = `
### Aliases

The metrics of leases have a second name, under which they were first specified. Values and labels are the same; the two that end in
\`_ms\` are in milliseconds, with \`resource_type\` as their only label. Their number depends on the types of resources, not on crons or
leases. To store each series once, drop these names:

\`\`\`yaml
metric_relabel_configs:
  - source_labels: [__name__]
    regex: redis_(lease|node)_.*
    action: drop
\`\`\`
`;

const SESSIONS = `
Leases that live with a session, as those of crons do, are renewed together. \`fencepost_lease_extend_total\` counts one renewal for all of
them, under the type \`pod-session\`.`;

/**
 * @param {Readonly<Record<string, MetricSpec>>} cron
 * @param {Readonly<Record<string, MetricSpec>>} lease
 * @param {readonly import('./alert-list.mjs').Alert[]} alerts
 */
export function metricsPage(cron, lease, alerts) {
  const parts = [
    INTRO,
    '## Crons and runs\n',
    table(Object.values(cron)),
    '\n## Leases\n',
    table(Object.values(lease)),
    SESSIONS,
    ALIASES,
    aliasTable(Object.values(lease)),
    '\n## Alerts\n',
    ...alertTable(alerts),
  ];
  return `${parts.join('\n')}\n`;
}

const SHOWN_BY = {
  scheduler: 'scheduler',
  worker: 'worker',
  both: 'every pod',
  quorum: 'a process with leases on a quorum',
};

function table(metrics) {
  const rows = metrics.map(
    ({ name, type, labels, help, by }) => `| \`${name}\` | ${type} | ${labelsOf(labels)} | ${SHOWN_BY[by]} | ${help} |`,
  );
  return ['| metric | type | labels | served by | meaning |', '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}

function aliasTable(metrics) {
  const rows = metrics.flatMap(({ name, alias }) => (alias === undefined ? [] : [`| \`${alias}\` | \`${name}\` |`]));
  return ['| alias | metric |', '| --- | --- |', ...rows].join('\n');
}

function labelsOf(labels) {
  const shown = Object.entries(labels).map(([label, values]) =>
    values === null ? `\`${label}\`` : `\`${label}\`: ${values.join(', ')}`,
  );
  return shown.join('; ');
}

function alertTable(alerts) {
  const rows = alerts.map(
    ({ name, severity, holds, summary, runbook }) =>
      `| ${name} | ${severity} | ${holds} | ${summary.replaceAll(/\{\{ \$(labels\.)?(\w+)[^}]*\}\}/g, '_$2_')} | [${runbook}](operating.md#${runbook}) |`,
  );
  return ['| alert | severity | for | meaning | runbook |', '| --- | --- | --- | --- | --- |', ...rows];
}
