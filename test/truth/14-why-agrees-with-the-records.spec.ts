import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyRule, PATIENCE_MS } from '../schedule/random-expression.js';
import { atMost } from '../support/run-length.js';
import { FIRST, ZONES } from '../schedule/zones.js';
import { actArbitrary, cronArbitrary, WhyHistory } from './why-history.js';
import { contradictions } from './why-oracle.js';

const DAY_MS = 86_400_000;
const SPAN_MS = 65 * 365 * DAY_MS;

const scenario = fc.record({
  timeZone: fc.oneof(fc.constantFrom(...ZONES), fc.constantFrom('Australia/Lord_Howe', 'Europe/Berlin', 'UTC')),
  near: fc.integer({ min: 0, max: SPAN_MS }).map((ms) => FIRST + 400 * DAY_MS + ms),
  rule: anyRule,
  crons: fc.array(cronArbitrary, { minLength: 1, maxLength: 3 }),
  acts: fc.array(actArbitrary, { minLength: 3, maxLength: 12 }),
  backMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 4 * 86_400_000 })),
  questions: fc.array(
    fc.record({
      about: fc.constantFrom('instant', 'change', 'now', 'birth', 'cursor', 'anywhere'),
      offsetMs: fc.oneof(fc.integer({ min: -999, max: 999 }), fc.integer({ min: -7_200_000, max: 7_200_000 })),
      pick: fc.nat(),
      as: fc.constantFrom('number', 'iso', 'local'),
    }),
    { minLength: 8, maxLength: 8 },
  ),
});

describe('whatever a cron, its zone, its history and the time asked about are', () => {
  it(
    'why contradicts neither the ledger, nor the instants of the schedule, nor what Intl says of the clocks',
    async () => {
      await fc.assert(
        fc.asyncProperty(scenario, async ({ questions, ...told }) => {
          const history = await WhyHistory.play(told);
          for (const question of questions) {
            const asked = history.phrase(question);
            const report = await history.service.why(history.cron, asked);
            expect(
              await contradictions(history, asked, report),
              `${asked}: ${report.verdict}, ${report.answer}`,
            ).toEqual([]);
          }
        }),
        atMost(150),
      );
    },
    PATIENCE_MS,
  );
});
