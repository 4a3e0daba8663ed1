import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** One line of a page of metrics. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const HELP = new RegExp(`^# HELP (${NAME}) (\\S.*)$`);
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram|summary)$`);
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (NaN|Nan|[+-]Inf|[-+]?\\d[\\d.]*(?:e[-+]?\\d+)?)$`);
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/;

/**
 * Reads the text format of Prometheus (version 0.0.4), and refuses what only most readers would forgive: a sample without its
 * family, one that comes twice, a family in two places.
 * @throws {Error} naming the line
 */
export function readMetrics(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('Expected a line end after the last sample.');
  const families = new Map<string, { name: string; type: string; help: string; samples: Sample[] }>();
  const seen = new Set<string>();
  let current = { name: '', type: '', help: '', samples: [] as Sample[] };
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, helped, help = ''] = HELP.exec(line) ?? [];
    const [, typed, type = ''] = TYPE.exec(line) ?? [];
    if (helped !== undefined) {
      if (families.has(helped)) throw new Error(`The family comes twice: ${line}`);
      current = { name: helped, type: '', help, samples: [] };
      families.set(helped, current);
    } else if (typed !== undefined) {
      if (typed !== current.name || current.type !== '') throw new Error(`The type is out of place: ${line}`);
      current.type = type;
    } else {
      const sample = readSample(line);
      if (!belongs(sample.name, current)) throw new Error(`The sample is out of place: ${line}`);
      const key = `${sample.name} ${JSON.stringify(sample.labels, Object.keys(sample.labels).toSorted())}`;
      if (seen.has(key)) throw new Error(`The sample comes twice: ${line}`);
      seen.add(key);
      current.samples.push(sample);
    }
  }
  return families;
}

function belongs(name: string, family: { readonly name: string; readonly type: string }): boolean {
  if (family.type !== 'histogram') return family.type !== '' && name === family.name;
  return ['_bucket', '_sum', '_count'].some((suffix) => name === `${family.name}${suffix}`);
}

function readSample(line: string): Sample {
  const [, name = '', inner, value = ''] = SAMPLE.exec(line) ?? [];
  if (name === '') throw new Error(`Expected a sample: ${line}`);
  const labels: Record<string, string> = {};
  for (let rest = inner ?? ''; rest !== '';) {
    const [whole = '', label = '', text = ''] = LABEL.exec(rest) ?? [];
    if (whole === '' || label in labels) throw new Error(`Expected labels: ${line}`);
    labels[label] = text;
    rest = rest.slice(whole.length);
  }
  return { name, labels, value: value.endsWith('Inf') ? Number(`${value}inity`) : Number(value) };
}

/** The value of one series, `undefined` where there is none. Of one page, whose deployment is not asked for. */
export function valueOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const all = [...families.values()].flatMap(({ samples }) => samples).filter((sample) => sample.name === name);
  return all.find(({ labels: { deployment: _, ...own } }) => same(own, labels))?.value;
}

function same(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** Prometheus' own checker where somebody has it, `null` otherwise: the suite's own checks run in any case. */
export const promtool: string | null =
  process.env['PROMTOOL'] ??
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'promtool'))
    .find((file) => existsSync(file)) ??
  null;
