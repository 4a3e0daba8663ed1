/**
 * How often per second a schedule says what comes next, against cron-parser in the same run.
 *
 * Both walk from one instant to the next, each parsed once. A ratio is the median over the rounds of what one had divided
 * by what the other had in the same round; who begins changes with each. The closing line:
 * {"ok":true,"cases":[{"name":"…","ours":9000000,"peers":{"cron-parser":25000},"ratio":360}]}
 * Exit code 1 when a ratio is below 20.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { benchCommand } from './command.mjs';

const MIN_RATIO = 20;
const START = Date.UTC(2026, 0, 1);
/** So long does each of them walk in a round. */
const SLICE_MS = 40;
const WARM_UP = 2;

const CASES = [
  ['every minute', '* * * * *', 'UTC'],
  ['every minute', '* * * * *', 'America/New_York'],
  ['every minute', '* * * * *', 'Europe/Berlin'],
  ['every 5 min', '*/5 * * * *', 'America/New_York'],
  ['every 5 min', '*/5 * * * *', 'Europe/Berlin'],
  ['nightly 02:30', '30 2 * * *', 'UTC'],
  ['nightly 02:30', '30 2 * * *', 'America/New_York'],
  ['nightly 02:30', '30 2 * * *', 'Europe/Berlin'],
  ['weekdays 9:15', '15 9 * * 1-5', 'America/New_York'],
  ['weekdays 9:15', '15 9 * * 1-5', 'Europe/Berlin'],
  ['monthly', '0 0 1 * *', 'Europe/Berlin'],
  ['yearly Feb 29', '0 0 29 2 *', 'Europe/Berlin'],
];

const BENCH = {
  name: 'bench:next',
  numbers: { rounds: { says: 'rounds that count', default: 11 } },
  files: { module: 'measure this built schedule.js instead of the package' },
};

await benchCommand(import.meta.url, BENCH, async () => async ({ rounds, module }, print) => {
  const walkers = await open(module);
  const cases = CASES.map((kase) => measured(kase, walkers, rounds));
  for (const { name, ours, peers, ratio } of cases) {
    print(`${name.padEnd(32)} ${shown(ours)} against ${shown(peers['cron-parser'])} per second: ${ratio} times`);
  }
  return { ok: cases.every(({ ratio }) => ratio >= MIN_RATIO), cases };
});

/** Each makes of an expression and a zone a function that takes so many steps. */
async function open(module) {
  const { parseSchedule } = await import(module ? pathToFileURL(module).href : '@fencepost/schedule');
  const ofSchedule = createRequire(new URL('../libs/schedule/package.json', import.meta.url));
  const { CronExpressionParser } = ofSchedule('cron-parser');
  return {
    ours(expression, timeZone) {
      const schedule = parseSchedule({ expression, timeZone, seed: 'bench' }, START);
      return (steps) => {
        let at = START;
        for (let n = 0; n < steps; n += 1) at = schedule.next(at);
        return at;
      };
    },
    theirs(expression, timeZone) {
      const parsed = CronExpressionParser.parse(expression, { tz: timeZone, currentDate: new Date(START) });
      return (steps) => {
        parsed.reset(new Date(START));
        let at = 0;
        for (let n = 0; n < steps; n += 1) at = parsed.next().getTime();
        return at;
      };
    },
  };
}

function measured([name, expression, timeZone], { ours, theirs }, rounds) {
  const both = { ours: ours(expression, timeZone), theirs: theirs(expression, timeZone) };
  expectTheSame(`${name}, ${timeZone}`, both);
  // As many steps as fit into a slice, but not through centuries, for which neither has been made.
  const most = Math.min(200_000, stepsUntil(both.ours, Date.UTC(2126, 0, 1)));
  const found = { ours: [], theirs: [], ratio: [] };
  for (let round = -WARM_UP; round < rounds; round += 1) {
    const order = round % 2 === 0 ? ['ours', 'theirs'] : ['theirs', 'ours'];
    const perSecond = Object.fromEntries(order.map((who) => [who, speedOf(both[who], most)]));
    if (round < 0) continue;
    found.ours.push(perSecond.ours);
    found.theirs.push(perSecond.theirs);
    found.ratio.push(perSecond.ours / perSecond.theirs);
  }
  return {
    name: `${name}, ${timeZone}`,
    ours: digits(median(found.ours)),
    peers: { 'cron-parser': digits(median(found.theirs)) },
    ratio: digits(median(found.ratio)),
  };
}

/** A quick answer that is wrong would win. Two months have no change of clocks, a hundred years have no 29th to spare. */
function expectTheSame(name, { ours, theirs }) {
  const steps = [1, 2, 3].filter((n) => ours(n) < START + 60 * 86_400_000 || n === 1);
  for (const n of steps) {
    if (ours(n) !== theirs(n)) throw new Error(`Expected ${name} to be the same for both after ${n} steps.`);
  }
}

function stepsUntil(walk, last) {
  let steps = 1;
  while (steps < 200_000 && walk(steps * 2) < last) steps *= 2;
  return steps;
}

/** Steps per second, in batches until the slice is over. */
function speedOf(walk, most) {
  const begun = performance.now();
  let [steps, batch, spent] = [0, 1, 0];
  while (spent < SLICE_MS) {
    walk(batch);
    steps += batch;
    batch = Math.min(batch * 2, most);
    spent = performance.now() - begun;
  }
  return (steps / spent) * 1_000;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Three are more than a run can repeat. */
function digits(value) {
  return Number(value.toPrecision(3));
}

function shown(perSecond) {
  return perSecond >= 1e6 ? `${digits(perSecond / 1e6)}M` : `${digits(perSecond / 1e3)}k`;
}
