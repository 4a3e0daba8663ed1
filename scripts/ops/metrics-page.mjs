/** @typedef {import('../../libs/operations/src/metrics/cron-metrics.ts').MetricSpec} MetricSpec */

const INTRO = `# Metrics

\`npm run ops\` generates this page from the list that also registers the metrics. Every pod serves its own metrics at
\`GET /metrics\`, in the text format of Prometheus, together with those of its process (\`process_*\`, \`nodejs_*\`).

**Access.** Open on loopback. Elsewhere it needs a viewer's token (\`Authorization: Bearer …\`) or \`FENCEPOST_METRICS_OPEN=true\`. The
metrics contain cron names and run outcomes, and no payloads or holders.

**Number of series.** A cron has about 20. \`FENCEPOST_METRICS_CRONS\` sets how many crons have series of their own: \`all\`, \`none\`, or
a number (default 200). The others are counted together as \`cron="other"\`, so sums cover all crons. Crons with \`expectEvery\` come
first, then those that fire least often, because a sum hides one failed nightly run. All pods choose the same crons, and removing a
cron removes its series. With 10,000 crons, \`all\` is about 200,000 series per pod.

**Aggregation.** One scheduler pod holds each cron, so use \`sum\` over pods for counters, \`cron_lease_held\` and
\`cron_uncertain_runs\`. Use \`max\` for gauges that are "the same for every pod". A gauge that cannot be read within 2 s is left out,
and \`cron_store_troubles_total\` counts the failure.

**Tags.** \`cron_tags_info{cron, tag}\` is 1 for each tag of a cron that has series of its own. Join it to alert or group by tag:

\`\`\`promql
# Failures of the crons with the tag "billing"
sum by (cron) (increase(cron_runs_total{status="failed"}[10m])) > 0 and on (cron) cron_tags_info{tag="billing"}
# Runs per second, by tag; a cron with two tags counts in both
sum by (tag) (max by (cron, tag) (cron_tags_info) * on (cron) group_left () sum by (cron) (rate(cron_runs_total[5m])))
\`\`\`

\`ops/\` contains a Grafana dashboard (\`ops/grafana/fencepost.json\`) and Prometheus rules (\`ops/prometheus/alerts.yml\`), generated from
the same list. Your own application serves these metrics with \`MetricsModule.on(jobs)\` from \`@fencepost/operations/metrics\`, which needs the
package \`prom-client\`.
`;

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
