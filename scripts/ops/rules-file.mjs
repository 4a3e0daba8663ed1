import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../exclusive.mjs';

const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** Whoever is woken reads it in a browser, and has no clone. */
const RUNBOOK = `${repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/docs/operating.md`;
const MADE = '# Made by "npm run ops" from the list of metrics; what is changed here is lost.';

const quoted = (text) => JSON.stringify(text);

/**
 * The file of rules for Prometheus.
 * @param {readonly import('./alert-list.mjs').Alert[]} alerts
 * @param {string} [runbook] the page that they point to
 */
export function rulesFile(alerts, runbook = RUNBOOK) {
  return [MADE, ...groups(alerts, runbook)].join('\n') + '\n';
}

/**
 * The same rules as an object of the Prometheus Operator.
 * @param {readonly import('./alert-list.mjs').Alert[]} alerts
 * @param {string} [runbook] the page that they point to
 */
export function rulesObject(alerts, runbook = RUNBOOK) {
  const head = [
    'apiVersion: monitoring.coreos.com/v1',
    'kind: PrometheusRule',
    'metadata:',
    '  name: fencepost',
    'spec:',
  ];
  return [MADE, ...head, ...groups(alerts, runbook).map((line) => `  ${line}`)].join('\n') + '\n';
}

const lines = (texts = {}) => Object.entries(texts).map(([name, text]) => `          ${name}: ${quoted(text)}`);

function groups(alerts, page) {
  const rules = alerts.flatMap(({ name, expr, holds, severity, labels, annotations, ...said }) => [
    `      - alert: ${name}`,
    `        expr: ${quoted(expr)}`,
    `        for: ${holds}`,
    `        labels:`,
    `          severity: ${severity}`,
    ...lines(labels),
    `        annotations:`,
    `          summary: ${quoted(said.summary)}`,
    `          description: ${quoted(said.description)}`,
    `          runbook_url: ${quoted(`${page}#${said.runbook}`)}`,
    ...lines(annotations),
  ]);
  return ['groups:', '  - name: fencepost', '    rules:', ...rules];
}
