/** For people; the closing line is for programs. */
export function table({ name, unit, roundTripsUs, ours, peers, claims }) {
  const rows = [['ours', ours], ...Object.entries(peers)];
  const width = Math.max(...rows.map(([who]) => who.length));
  const lines = rows.map(([who, value]) => `  ${who.padEnd(width)}  ${figure(value)}`);
  const trips = `  a bare round trip: ${roundTripsUs.join(', ')} µs`;
  return [`${name}: ${unit}`, trips, ...lines, ...claims.map((claim) => `  ${sentence(claim)}`), ''].join('\n');
}

function figure(value) {
  return typeof value === 'number' ? value.toLocaleString('en').padStart(9) : `${value}`;
}

function sentence({ against, measured, holds, because, atMost, atLeast, timesBetter }) {
  const than = timesBetter ? `${measured} times better than ${against}` : `${measured} × ${against}`;
  if (because) return `(no claim) ${than}: ${because}`;
  const limit = atMost === undefined ? `at least ${atLeast ?? timesBetter}` : `at most ${atMost}`;
  const verdict = { true: 'HOLDS', false: 'FAILS', null: 'not judged' }[String(holds)];
  return `${verdict}  ${than}, claimed ${limit}`;
}
