export function atLeast(name, value, limit) {
  return { name, measured: shown(value), atLeast: limit, holds: value >= limit };
}

export function atMost(name, value, limit) {
  return { name, measured: shown(value), atMost: limit, holds: value <= limit };
}

export function exactly(name, measured, wanted) {
  return { name, measured, exactly: wanted, holds: measured === wanted };
}

/** As much of a figure as says anything. */
export function shown(value) {
  return Number.isFinite(value) ? Number(value.toPrecision(3)) : value;
}
