import { ask, grouping, grown } from './promql.mjs';

/**
 * What crons are other than people may believe.
 * @param {typeof import('../../libs/operations/src/metrics/metric-list.ts').METRICS} m
 * @returns {readonly import('./alert-list.mjs').Alert[]}
 */
export function definitionAlerts(m) {
  const contested = { conflict: '~foreign|withheld|later|differs|app_shared' };
  const revisions = ask({ of: m.revisionPods, by: ['app', 'revision'], as: 'max' });
  return [
    {
      name: 'FencepostDefinitionsContested',
      expr: grown({ of: m.catalogConflicts, where: contested, by: ['app', 'conflict'], range: '15m' }),
      ...{ holds: '0m', severity: 'warning', runbook: 'definitions' },
      summary: 'Pods of {{ $labels.app }} declare crons that are not in force as declared: {{ $labels.conflict }}.',
      description:
        'Another app has the name, pods with the same code differ, or two programs share an app name. "fencepost doctor" names the crons.',
    },
    {
      name: 'FencepostRevisionsMixed',
      expr: `count ${grouping(['app'])} (${revisions} > 0) > 1`,
      ...{ holds: '30m', severity: 'warning', runbook: 'definitions' },
      summary: 'Pods of {{ $value }} revisions of {{ $labels.app }} are live.',
      description: 'The newest that has a cron defines it. A deployment that takes this long has stopped half-way.',
    },
  ];
}
