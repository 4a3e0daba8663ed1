import { z } from 'zod';
import type { DueAt, Forecast } from '../operating/forecast.js';
import { count, instant, instantOrNull, iso } from './values.js';

export const forecastSchema = z
  .strictObject({
    from: instant.describe('Instants from here on.'),
    to: instant.describe('The first one that does not count.'),
    perHour: z
      .array(
        z.strictObject({
          at: instant.describe('When the hour begins by the clocks of the zone.'),
          count: count.describe('Number of runs due in it.'),
          peak: count.describe('The largest number of runs due in one second of it.'),
          peakAt: instantOrNull.describe('The first such second; null where nothing is due.'),
        }),
      )
      .describe('Runs due in each hour. The first and the last hour are partial.'),
    stampedes: z
      .array(
        z.strictObject({
          at: instant.describe('The second in which they are due.'),
          crons: z.array(z.string()).describe('The first of them by name.'),
          count: count.describe('How many.'),
        }),
      )
      .describe('Seconds in which many crons are due at once, the fullest first.'),
    clockChanges: z
      .array(
        z.strictObject({
          zone: z.string().describe('Where clocks change.'),
          at: instant.describe('When.'),
          text: z.string().describe('How, and what it means for the crons that go by them.'),
          crons: count.describe('How many crons go by these clocks.'),
        }),
      )
      .describe('Where clocks change in this time.'),
    next: z
      .array(z.strictObject({ cron: z.string().describe('Its name.'), at: instant.describe('When it is due.') }))
      .describe('What is due next, the soonest first.'),
  })
  .describe('What is to come.');

export type ForecastJson = z.infer<typeof forecastSchema>;

export function presentForecast({ from, to, perHour, stampedes, clockChanges, next }: Forecast): ForecastJson {
  return {
    ...{ from: iso(from), to: iso(to) },
    perHour: perHour.map((hour) => ({ ...hour, at: iso(hour.at), peakAt: iso(hour.peakAt) })),
    stampedes: stampedes.map(({ at, crons, count: due }) => ({ at: iso(at), crons: [...crons], count: due })),
    clockChanges: clockChanges.map((change) => ({ ...change, at: iso(change.at) })),
    next: next.map(({ cron, at }) => ({ cron, at: iso(at) })),
  };
}

export const dueAtSchema = z
  .strictObject({
    at: instant.describe('The second.'),
    crons: z.array(z.string()).describe('Crons due in it, by name; at most 500.'),
    count: count.describe('Number of crons due in it.'),
  })
  .describe('Crons due in one second.');

export function presentDueAt({ at, crons, count: due }: DueAt): z.infer<typeof dueAtSchema> {
  return { at: iso(at), crons: [...crons], count: due };
}
