import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../scripts/build.mjs';
import { ensureInstalled } from '../scripts/install.mjs';
import { program } from '../scripts/program.mjs';

const HELP = `npm run bench:ratchets -- [options]

Measures what bench/ratchets.json lists, as ratios to a bare floor in the same run or as counts, and compares: no figure may rise by more
than 15 %. One that does is measured again, up to three times, and the least counts. About two minutes.

  --record    writes what was measured into that file: after a change that is meant
  --json      only the closing line on stdout; everything else goes to stderr
  -h, --help  this

The last line is {"ok","figures":[{"bench","case","claim","recorded","measured","holds"}]}. Exit code 1 when one has risen.`;

const FILE = new URL('./ratchets.json', import.meta.url);
const MAY_RISE = 1.15;
const TRIES = 3;

const BENCHES = {
  tick: { load: () => import('./tick/run-cases.mjs'), options: { seconds: 15, quick: false } },
  run: { load: () => import('./run/run-cases.mjs'), options: { seconds: 3, quick: false } },
  lease: { load: () => import('./lease/run-cases.mjs'), options: { rounds: 5, seed: 1, quick: false } },
};

await program(import.meta.url, async (args) => {
  const flag = { type: 'boolean', default: false };
  const { values } = parseArgs({ args, options: { record: flag, json: flag, help: { ...flag, short: 'h' } } });
  if (values.help) return console.log(HELP);
  await ensureInstalled();
  await ensureBuilt();
  let figures = JSON.parse(readFileSync(FILE, 'utf8'));
  for (let tries = 0; tries < (values.record ? 1 : TRIES); tries += 1) {
    const open = figures.filter(({ holds }) => holds !== true);
    if (open.length > 0) figures = await measured(figures, open);
  }
  for (const { bench, case: kase, claim, recorded, measured: now, holds } of figures) {
    console.error(`${holds ? 'holds' : 'RISES'}  ${bench} ${kase}, ${claim}: ${now}, recorded ${recorded}`);
  }
  if (values.record) writeFileSync(FILE, `${JSON.stringify(figures.map(asRecord), null, 2)}\n`);
  const ok = figures.every(({ holds }) => holds);
  console.log(JSON.stringify({ ok, figures }));
  return ok || values.record ? 0 : 1;
});

function asRecord({ bench, case: kase, claim, measured: recorded }) {
  return { bench, case: kase, claim, recorded };
}

/** All of `figures`, with those among them that are `open` measured once more. */
async function measured(figures, open) {
  const found = new Map();
  for (const bench of new Set(open.map((one) => one.bench))) {
    const cases = new Set(open.filter((one) => one.bench === bench).map((one) => one.case));
    for (const { name, claims } of await resultsOf(bench, [...cases])) {
      for (const claim of claims)
        found.set(keyOf({ bench, case: name, claim: claim.name ?? claim.against }), claim.measured);
    }
  }
  return figures.map((figure) => (open.includes(figure) ? judged(figure, found.get(keyOf(figure))) : figure));
}

function judged({ measured: before = Infinity, ...figure }, now) {
  if (now === undefined)
    throw new Error(`bench/ratchets.json: no bench measures ${keyOf(figure)}. Correct its name, or remove it.`);
  const least = Math.min(before, now);
  return { ...figure, measured: least, holds: least <= figure.recorded * MAY_RISE };
}

function keyOf({ bench, case: kase, claim }) {
  return `${bench} ${kase}: ${claim}`;
}

async function resultsOf(bench, names) {
  const { load, options } = BENCHES[bench];
  const { runCases } = await load();
  const cases = bench === 'lease' ? await leaseCases(names) : names;
  const { cases: results } = await runCases({ ...options, cases }, (text) => console.error(text));
  return results;
}

async function leaseCases(names) {
  const { CASES } = await import('./lease/cases.mjs');
  return CASES.filter(({ name }) => names.includes(name));
}
