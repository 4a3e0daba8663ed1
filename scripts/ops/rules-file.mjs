/** Where the runbook is. */
const RUNBOOK = 'docs/operating.md';

const quoted = (text) => JSON.stringify(text);

/**
 * The file of rules for Prometheus.
 * @param {readonly import('./alert-list.mjs').Alert[]} alerts
 */
export function rulesFile(alerts) {
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
  const head = [
    '# Made by "npm run ops" from the list of metrics; what is changed here is lost.',
    'groups:',
    '  - name: fencepost',
  ];
  return `${[...head, '    rules:', ...rules].join('\n')}\n`;
}
