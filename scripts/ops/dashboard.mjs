import { quorumPanels, rows } from './panels.mjs';

const SOURCE = { type: 'prometheus', uid: '${datasource}' };
const WIDTH = 24;
const SIZES = { stat: { w: 4, h: 4 }, timeseries: { w: 8, h: 8 }, table: { w: 8, h: 8 } };

/**
 * The dashboard for Grafana, as its file.
 * @param {typeof import('../../libs/operations/src/metrics/metric-list.ts').METRICS} metrics
 * @param {boolean} [onQuorum] whether its pods keep the leases of crons on a quorum
 */
export function dashboardFile(metrics, onQuorum = false) {
  const dashboard = {
    title: 'Fencepost',
    uid: 'fencepost',
    description: 'Made by "npm run ops" from the list of metrics; what is changed here is lost.',
    tags: ['fencepost'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    timezone: 'browser',
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: variables(metrics) },
    annotations: { list: [] },
    panels: placed([...rows(metrics), ...(onQuorum ? [{ title: 'Quorum', panels: quorumPanels(metrics) }] : [])]),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

function variables({ fires }) {
  return [
    { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus', hide: 0 },
    chosen({ name: 'deployment', label: 'Deployment' }, `label_values(${fires.name}, deployment)`),
    chosen({ name: 'cron', label: 'Cron' }, `label_values(${fires.name}{deployment=~"$deployment"}, cron)`),
  ];
}

function chosen(variable, query) {
  return {
    ...{ ...variable, type: 'query', datasource: SOURCE, refresh: 2, sort: 1 },
    ...{ query: { query, refId: `${variable.name}s` }, definition: '' },
    ...{ multi: true, includeAll: true, allValue: '.*', current: { text: 'All', value: '$__all' } },
  };
}

/** From left to right, and down when a row is full. */
function placed(all) {
  const panels = [];
  let [x, y, high] = [0, 0, 0];
  const down = () => ([x, y, high] = [0, y + high, 0]);
  for (const { title, panels: inRow } of all) {
    down();
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: WIDTH, h: 1 },
      panels: [],
    });
    y += 1;
    for (const panel of inRow) {
      const { w, h } = SIZES[panel.type];
      if (x + w > WIDTH) down();
      panels.push(panelOf(panel, { id: panels.length + 1, gridPos: { x, y, w, h } }));
      [x, high] = [x + w, Math.max(high, h)];
    }
  }
  return panels;
}

function panelOf({ title, type, unit, shows, description = '', alarmAt }, place) {
  const instant = type !== 'timeseries';
  const steps = [{ color: 'green', value: null }, ...(alarmAt === undefined ? [] : [{ color: 'red', value: alarmAt }])];
  return {
    ...place,
    ...{ type, title, description, datasource: SOURCE },
    fieldConfig: { defaults: { unit, min: 0, thresholds: { mode: 'absolute', steps } }, overrides: [] },
    options: type === 'stat' ? { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'value' } : {},
    targets: shows.map(([expr, legendFormat], index) => ({
      ...{ refId: 'ABCDEF'[index], datasource: SOURCE, expr, legendFormat },
      ...(instant ? { instant: true, range: false, format: type === 'table' ? 'table' : 'time_series' } : {}),
    })),
  };
}
