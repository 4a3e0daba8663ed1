/** @typedef {import('../../libs/operations/src/metrics/cron-metrics.ts').MetricSpec} MetricSpec */

/**
 * @typedef {object} Question
 * @property {MetricSpec} of
 * @property {Readonly<Record<string, string>>} [where] equal to, or with a `~` in front: matching
 * @property {readonly string[]} [by]
 * @property {'sum' | 'max' | 'min'} [as]
 * @property {'rate' | 'increase' | 'deriv' | 'max_over_time'} [over] with `range`
 * @property {string} [range]
 * @property {'_bucket' | '_sum' | '_count'} [part] of a histogram
 */

/**
 * A part of an expression, from the list of metrics. Every group is of one deployment: several may be in one Prometheus, and what is
 * well in one says nothing of another.
 * @param {Question} question
 * @throws {Error} for a label or a value that the metric doesn't have
 */
export function ask({ of, where = {}, by = [], as, over, range, part }) {
  for (const label of by) if (label !== 'le' && label !== 'instance') checkLabel(of, label);
  if (part !== undefined && of.type !== 'histogram') throw new Error(`${of.name} is no histogram.`);
  if (over === 'rate' && of.type === 'gauge') throw new Error(`${of.name} is a gauge, and has no rate.`);
  const matchers = Object.entries(where).map(([label, value]) => matcher(of, label, value));
  const series = `${of.name}${part ?? ''}${matchers.length === 0 ? '' : `{${matchers.join(', ')}}`}`;
  const ranged = over === undefined ? series : `${over}(${series}[${range}])`;
  if (as === undefined) return ranged;
  return `${as} ${grouping(by)} (${ranged})`;
}

/** @param {readonly string[]} [by] */
export function grouping(by = []) {
  return `by (${['deployment', ...by].join(', ')})`;
}

const MINUTES = /^(\d+)m$/;

/**
 * Series of a counter that has grown at all within the range. A process that is younger than that has counted all of its value
 * within it, also what it counted before Prometheus first asked: `increase` does not see that.
 * @param {Question} question with `range` in minutes
 */
export function grown(question) {
  const { range, by, ...of } = question;
  const young = `time() - process_start_time_seconds < ${Number(MINUTES.exec(range)?.[1]) * 60}`;
  const fromBirth = `sum ${grouping(by)} (${ask(of)} and on (instance) (${young}))`;
  return `${ask({ ...question, as: 'sum', over: 'increase' })} > 0 or ${fromBirth} > 0`;
}

/**
 * Series of a counter that keeps growing: by more than `above` in half an hour, in three of its ten parts. One event that
 * concerns everything at once, such as the restart of a store, takes place in one part, or in two.
 * @param {Question} question
 * @param {number} above
 */
export function keepsGrowing(question, above) {
  const within = (range) => ask({ ...question, as: 'sum', over: 'increase', range });
  return `${within('30m')} > ${above} and count_over_time((${within('3m')} > 0)[30m:3m]) > 2`;
}

/**
 * @param {number} part from 0 to 1
 * @param {Question} question
 */
export function quantile(part, { by = [], ...question }) {
  const buckets = ask({ ...question, by: [...by, 'le'], as: 'sum', over: 'rate', part: '_bucket' });
  return `histogram_quantile(${part}, ${buckets})`;
}

function matcher(spec, label, value) {
  checkLabel(spec, label);
  if (value.startsWith('~')) return `${label}=~"${value.slice(1)}"`;
  const values = spec.labels[label] ?? null;
  if (values !== null && !values.includes(value)) throw new Error(`${spec.name} has no ${label} "${value}".`);
  return `${label}="${value}"`;
}

function checkLabel({ name, labels }, label) {
  if (label !== 'deployment' && !(label in labels)) throw new Error(`${name} has no label "${label}".`);
}
