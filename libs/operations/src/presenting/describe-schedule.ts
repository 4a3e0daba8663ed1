import { isEvery } from '@fencepost/schedule';
import type { CronDefinition } from '@fencepost/ledger/catalog';

type Described = Pick<CronDefinition, 'expression' | 'timeZone' | 'spreadMs'>;

const NAMED: Readonly<Record<string, string>> = {
  '@manual': '@manual',
  '@secondly': '* * * * * *',
  '@minutely': '* * * * *',
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const SHORT = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];

const SPREAD = ', spread over some time';

/**
 * A schedule in words, where a few words say all of it; else the expression as it stands. A sentence that is nearly right
 * would be worse than none.
 */
export function describeSchedule({ expression, timeZone, spreadMs = 0 }: Described): string {
  const text = expression.trim();
  if (isEvery(text)) return describeEvery(text, spreadMs);
  const words = wordsOf((NAMED[text] ?? text).split(/\s+/));
  const spread = spreadMs > 0 ? SPREAD : '';
  if (words === 'when somebody asks for it') return words;
  return words === null ? `"${text}" in ${timeZone}${spread}` : `${words} in ${timeZone}${spread}`;
}

const UNITS: Readonly<Record<string, string>> = { s: 's', m: 'min', h: 'h', d: 'd' };

/** Its instants are the same in every zone, so none is named. */
function describeEvery(text: string, spreadMs: number): string {
  const [, amount, unit = ''] = /(\d+)([smhd])$/.exec(text) ?? [];
  return `every ${Number(amount)} ${UNITS[unit]}${spreadMs > 0 ? SPREAD : ''}`;
}

function wordsOf(fields: readonly string[]): string | null {
  if (fields[0] === '@manual') return 'when somebody asks for it';
  const [second, minute, hour, day, month, weekday] = fields.length === 5 ? ['0', ...fields] : fields;
  if (fields.length < 5 || fields.length > 6) return null;
  const anyDay = day === '*' && month === '*' && weekday === '*';
  if (minute === '*' && hour === '*' && anyDay)
    return often(second, 'second') ?? (second === '0' ? 'every minute' : null);
  if (second !== '0') return null;
  if (hour === '*' && anyDay) return often(minute, 'minute') ?? hourly(minute, 'every hour');
  const hours = anyDay && hour !== undefined ? often(hour, 'hour') : null;
  if (hours) return hourly(minute, hours);
  const time = timeOf(hour, minute);
  const days = daysOf(day, month, weekday);
  return time === null || days === null ? null : `${days} at ${time}`;
}

const IN_A = { second: 60, minute: 60, hour: 24 } as const;

/** Only steps that divide the whole: others are not always as far apart. */
function often(field: string | undefined, unit: keyof typeof IN_A): string | null {
  if (field === '*') return unit === 'second' ? 'every second' : null;
  const [, step] = /^\*\/([1-9]\d?)$/.exec(field ?? '') ?? [];
  if (step === undefined || IN_A[unit] % Number(step) !== 0) return null;
  return Number(step) === 1 ? `every ${unit}` : `every ${Number(step)} ${unit}s`;
}

function hourly(minute: string | undefined, hours: string): string | null {
  const at = whole(minute, 59);
  return at === null ? null : `${hours} at minute ${at}`;
}

function timeOf(hour: string | undefined, minute: string | undefined): string | null {
  const [h, m] = [whole(hour, 23), whole(minute, 59)];
  return h === null || m === null ? null : `${two(h)}:${two(m)}`;
}

function daysOf(day = '', month = '', weekday = ''): string | null {
  if (day === '*' && month === '*') return weekdays(weekday);
  if (weekday !== '*') return null;
  const date = whole(day, 31);
  if (date === null || date < 1) return null;
  if (month === '*') return `on day ${date} of every month`;
  const name = MONTHS[(whole(month, 12) ?? 0) - 1];
  return name === undefined ? null : `every year on ${date} ${name}`;
}

function weekdays(field: string): string | null {
  if (field === '*') return 'every day';
  if (field === '1-5' || field.toUpperCase() === 'MON-FRI') return 'from Monday to Friday';
  const named = SHORT.indexOf(field.toUpperCase());
  const name = DAYS[named >= 0 ? named : (whole(field, 7) ?? -1)];
  return name === undefined ? null : `every ${name}`;
}

function whole(field: string | undefined, most: number): number | null {
  return field !== undefined && /^\d{1,2}$/.test(field) && Number(field) <= most ? Number(field) : null;
}

function two(n: number): string {
  return `${n}`.padStart(2, '0');
}
