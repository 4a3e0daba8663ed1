import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { root } from '../exclusive.mjs';
import { alertList, quorumAlerts } from './alert-list.mjs';
import { dashboardFile } from './dashboard.mjs';
import { metricsPage } from './metrics-page.mjs';
import { rulesFile, rulesObject } from './rules-file.mjs';

/** @typedef {Pick<typeof import('../../libs/operations/src/metrics/index.ts'), 'METRICS' | 'CRON_METRICS' | 'LEASE_METRICS'>} Lists */

/**
 * Every file that is made from the list of metrics, by its path.
 * @param {Lists} lists
 * @returns {Promise<Record<string, string>>}
 */
export async function opsFiles({ METRICS, CRON_METRICS, LEASE_METRICS }) {
  const alerts = alertList(METRICS);
  return formatted({
    'docs/metrics.md': metricsPage(CRON_METRICS, LEASE_METRICS, [...alerts, ...quorumAlerts(METRICS)]),
    'ops/grafana/fencepost.json': dashboardFile(METRICS),
    'ops/prometheus/alerts.yml': rulesFile(alerts),
    'ops/kubernetes/components/monitoring/prometheus-rule.yaml': rulesObject(alerts),
  });
}

/**
 * Dashboard and alert rules for a deployment of one's own, for Prometheus and for its operator.
 * @param {Pick<Lists, 'METRICS'>} lists
 * @param {object} [own]
 * @param {string} [own.runbook] the page that the alerts point to
 * @param {boolean} [own.onQuorum] whether the pods keep the leases of crons on a quorum
 * @returns {Promise<Record<string, string>>}
 */
export async function ownFiles({ METRICS }, { runbook, onQuorum = false } = {}) {
  const alerts = [...alertList(METRICS), ...(onQuorum ? quorumAlerts(METRICS) : [])];
  return formatted({
    'alerts.yml': rulesFile(alerts, runbook),
    'prometheus-rule.yaml': rulesObject(alerts, runbook),
    'fencepost.json': dashboardFile(METRICS, onQuorum),
  });
}

async function formatted(made) {
  const files = Object.entries(made).map(async ([file, text]) => {
    const filepath = join(root, file);
    return [file, await format(text, { ...(await resolveConfig(filepath)), filepath })];
  });
  return Object.fromEntries(await Promise.all(files));
}
