import { ratioOf } from './rounds.mjs';
import { PATIENCE_MS } from './settings.mjs';
import { median } from './statistics.mjs';

/**
 * A case as the closing line shows it.
 * @param {Map<string, { ours: number }>} earlier the cases that were judged before, for a claim against one of them
 */
export function judge(kase, { values, excuses, roundTripsUs }, { earlier, quick }) {
  const ours = values.get(kase.ours);
  const claims = kase.claims
    .filter(({ against }) => !excuses.has(against))
    .map((claim) => judgeClaim(claim, { ours, theirs: baseOf(claim, { values, earlier, ours }), quick }));
  const peers = [...kase.peers, ...(kase.patient ?? [])];
  return {
    name: kase.name,
    unit: kase.unit,
    roundTripsUs,
    ours: shown(median(ours)),
    peers: Object.fromEntries(peers.map((name) => [name, excuses.get(name) ?? shown(median(values.get(name)))])),
    ratio: claims[0]?.measured ?? null,
    claims,
  };
}

/** What a claim compares with, a value per round. */
function baseOf(claim, { values, earlier, ours }) {
  if (!claim.case) return values.get(claim.against);
  const before = earlier.get(claim.case);
  return before && ours.map(() => before.ours);
}

function judgeClaim({ case: _, ...claim }, { ours, theirs, quick }) {
  if (!theirs) return { ...claim, measured: null, holds: null };
  const ratio = ratioOf(ours, theirs);
  const measured = shown(claim.timesBetter ? 1 / ratio : ratio);
  if (claim.claim === null || quick) return { ...claim, measured, holds: null };
  return { ...claim, measured, holds: holds(claim, measured) };
}

function holds({ atMost, atLeast, timesBetter }, measured) {
  return atMost === undefined ? measured >= (atLeast ?? timesBetter) : measured <= atMost;
}

/** Three digits are more than a run can repeat. */
function shown(value) {
  return Number.isFinite(value) ? Number(value.toPrecision(3)) : `> ${PATIENCE_MS / 1_000} s`;
}
