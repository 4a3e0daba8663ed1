/** Where the runbook is. */
const RUNBOOK = 'docs/operating.md';
const MADE = '# Made by "npm run ops" from the list of metrics; what is changed here is lost.';

const quoted = (text) => JSON.stringify(text);

/**
 * The file of rules for Prometheus.
 * @param {readonly import('./alert-list.mjs').Alert[]} alerts
 */
export function rulesFile(alerts) {
  return [MADE, ...groups(alerts)].join('\n') + '\n';
}

/**
 * The same rules as an object of the Prometheus Operator.
 * @param {readonly import('./alert-list.mjs').Alert[]} alerts
 */
export function rulesObject(alerts) {
  const head = [
    'apiVersion: monitoring.coreos.com/v1',
    'kind: PrometheusRule',
    'metadata:',
    '  name: fencepost',
    'spec:',
  ];
  return [MADE, ...head, ...groups(alerts).map((line) => `  ${line}`)].join('\n') + '\n';
}

function groups(alerts) {
  const rules = alerts.flatMap(({ name, expr, holds, severity, summary, description, runbook }) => [
    `      - alert: ${name}`,
    `        expr: ${quoted(expr)}`,
    `        for: ${holds}`,
    `        labels:`,
    `          severity: ${severity}`,
    `        annotations:`,
    `          summary: ${quoted(summary)}`,
    `          description: ${quoted(description)}`,
    `          runbook_url: ${quoted(`${RUNBOOK}#${runbook}`)}`,
  ]);
  return ['groups:', '  - name: fencepost', '    rules:', ...rules];
}
