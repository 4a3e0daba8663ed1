/** @typedef {import('../../libs/jobs/src/metrics/metric-spec.ts').MetricSpec} MetricSpec */

const INTRO = `# Metrics

This page is made by \`npm run ops\` from the list that also registers the metrics, so it says what is there. Every pod shows its
own at \`GET /metrics\`, in the text format of Prometheus, and those of its process (\`process_*\`, \`nodejs_*\`).

**Who may read them.** On loopback, whoever is there. Beyond it a token of a viewer as \`Authorization: Bearer …\`, or
\`FENCEPOST_METRICS_OPEN=true\`: names of crons and how their runs went are in there, payloads and holders are not.

**How many series.** A cron has about 20. \`FENCEPOST_METRICS_CRONS\` says how many crons are told apart: \`all\`, \`none\`, or a
number; 200 by default. The rest is counted together as \`cron="other"\`, so that sums are those of all crons. Told apart are
first the crons with \`expectEvery\`, then those that fire least often: one bad night of a nightly run does not show in a sum.
All pods make the same choice, and a cron that is removed takes its series along. With 10,000 crons, \`all\` is about 200,000
series for each pod.

**What to add up.** Each cron is held by one scheduler pod, so \`sum\` over pods is right for what is counted, for
\`cron_lease_held\` and for \`cron_uncertain_runs\`. What says "the same for every pod" wants \`max\`. A gauge that could not be
looked up within 2 s is left out of the page, and what went wrong is counted in \`cron_store_troubles_total\`.

In \`ops/\` there are a dashboard for Grafana (\`ops/grafana/fencepost.json\`) and rules for Prometheus
(\`ops/prometheus/alerts.yml\`), made from the same list. Your own application shows all of this with
\`MetricsModule.on(jobs)\` of \`@fencepost/jobs/metrics\`, which needs the package \`prom-client\`.
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
  quorum: 'no pod: your own process with a quorum',
};

function table(metrics) {
  const rows = metrics.map(
    ({ name, type, labels, help, by }) => `| \`${name}\` | ${type} | ${labelsOf(labels)} | ${SHOWN_BY[by]} | ${help} |`,
  );
  return ['| metric | type | labels | shown by | what it says |', '| --- | --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
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
  return ['| alert | severity | for | what it says | runbook |', '| --- | --- | --- | --- | --- |', ...rows];
}
