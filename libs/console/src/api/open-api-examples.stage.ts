/** The little of a JSON schema that examples need. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

export type Schemas = Readonly<Record<string, Schema>>;

const RUN = 'nightly-report@1763607600000';
const DUE = '2025-11-20T03:00:00.000Z';
const FENCE = '1763607600000001';

/** What a field has in an example, by its name, where its type allows it. */
const SAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  ...{ cron: ['nightly-report'], crons: ['nightly-report', 1], name: ['nightly-report'], id: [RUN], runId: [RUN] },
  ...{ runIds: [RUN], open: [RUN], fence: [FENCE], claimFence: [FENCE], handler: ['NightlyReport.send'] },
  ...{ expression: ['0 3 * * *'], timeZone: ['Europe/Berlin'], zone: ['Europe/Berlin'], zoneData: ['2025b'] },
  declaredBy: ['billing'],
  ...{ pod: ['scheduler-1'], holder: ['scheduler-1/5f3a'], worker: ['worker-1/9c2e'], claimedBy: ['scheduler-1/5f3a'] },
  ...{ by: ['alice'], reason: ['the disk was full'], text: ['It ran on time.'], why: ['Its worker was lost.'] },
  ...{ effect: ['charge'], item: ['customer-7'], key: ['customer-7'], resource: ['invoice:7'], answer: ['done'] },
  ...{ event: ['run.failed'], error: ['The disk is full.'], message: ['The disk is full.'], title: ['Unknown cron'] },
  ...{ tenant: ['default'], prefix: ['fencepost'], version: ['0.1.0'], tags: ['billing'], topic: ['schedule'] },
  ...{ from: ['api 10.0.0.7', '2025-11-20T00:00:00.000Z'], to: ['2025-11-21T00:00:00.000Z'] },
  ...{ finishedAt: ['2025-11-20T03:00:04.250Z'], startedAt: ['2025-11-20T03:00:00.040Z'], tookMs: [4_210] },
  ...{ enqueuedAt: ['2025-11-20T03:00:00.012Z'], claimedAt: ['2025-11-20T03:00:00.008Z'], lateByMs: [40] },
  ...{ next: ['2025-11-21T03:00:00.000Z', 'MTc2MzYwNzYwMDAwMC0w'], until: ['2025-11-20T05:00:00.000Z'] },
  ...{
    generation: [3],
    attempt: [1],
    token: ['fp_example'],
    action: ['pause'],
    state: ['succeeded'],
    graceMs: [30_000],
  },
  ...{ payload: [{ month: '2025-11' }], result: [{ id: 'ch_1' }], host: ['10.0.0.7'], pid: [4711], roles: ['worker'] },
  ...{
    dryRun: [true],
    scheduleText: ['at 03:00'],
    description: ['Closes the books of a month.'],
    ...{ owner: ['Team Billing'], runbookUrl: ['https://wiki.example/runbooks/books'] },
    label: ['nightly'],
    advice: ['Look at the provider.'],
    limit: [50],
    total: [1],
  },
};

/** Null in an example, where it may be: an ordinary run and an ordinary cron have none. */
const NONE = ['error', 'skipped', 'missed', 'cancel', 'unresolvedEffect', 'waiting', 'paused', 'notBefore', 'priority'];

interface Place {
  readonly schemas: Schemas;
  /** The field that it is the value of. */
  readonly field?: string;
  /** The names of the schemas that it is within. */
  readonly above?: readonly string[];
}

/** A value that fits the schema: samples by field name, else the least of each type. An array has one item. */
export function exampleOf(schema: Schema, place: Place): unknown {
  const { schemas, field = '', above = [] } = place;
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) {
    // A schema that is within itself ends there.
    return above.includes(name) ? null : exampleOf(schemas[name] ?? {}, { ...place, above: [...above, name] });
  }
  if (NONE.includes(field) && isNullable(schema)) return null;
  const { anyOf, oneOf, allOf } = schema;
  const choices = (anyOf ?? oneOf)?.filter((one) => !above.includes(one.$ref?.split('/').at(-1) ?? '\0'));
  if (choices) return exampleOf(choices.find(({ type }) => type !== 'null') ?? { type: 'null' }, place);
  if (allOf) return Object.assign({}, ...allOf.map((one) => exampleOf(one, place))) as object;
  if (schema.enum) return SAMPLES[field]?.find((one) => schema.enum?.includes(one)) ?? schema.enum[0];
  const inner = (one: Schema, of: string) => exampleOf(one, { ...place, field: of });
  if (schema.properties) return objectOf(schema.properties, inner);
  if (schema.items) return [inner(schema.items, field)];
  return SAMPLES[field]?.find((one) => fits(one, schema)) ?? leastOf(schema);
}

function isNullable({ type, anyOf = [] }: Schema): boolean {
  return [type ?? []].flat().includes('null') || anyOf.some(isNullable);
}

function objectOf(properties: Schemas, inner: (schema: Schema, field: string) => unknown): object {
  return Object.fromEntries(Object.entries(properties).map(([field, one]) => [field, inner(one, field)]));
}

function fits(sample: unknown, { const: only, pattern, format, minimum = -Infinity, ...schema }: Schema): boolean {
  if (only !== undefined) return sample === only;
  const [type] = [schema.type ?? []].flat();
  if (type === undefined) return true;
  if (typeof sample === 'number') return /^(integer|number)$/.test(type) && sample >= minimum;
  if (typeof sample !== 'string') return typeof sample === type;
  const isInstant = !Number.isNaN(Date.parse(sample)) && sample.endsWith('Z');
  return type === 'string' && (format === 'date-time') === isInstant && (!pattern || new RegExp(pattern).test(sample));
}

function leastOf({ const: only, type, format, minimum = 0 }: Schema): unknown {
  if (only !== undefined) return only;
  switch ([type ?? []].flat()[0]) {
    case 'string':
      return format === 'date-time' ? DUE : format === 'uri' ? 'https://example.com/' : 'text';
    case 'integer':
    case 'number':
      return Math.max(0, minimum);
    case 'boolean':
      return false;
    case 'object':
      return {};
    default:
      return null;
  }
}
