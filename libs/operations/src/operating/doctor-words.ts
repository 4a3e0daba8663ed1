import type { DoctorFinding, DoctorFindingLevel } from './doctor-facts.js';

const MAX_NAMED = 5;

/** `level` and what is said at it, in the order a finding is read. */
export function found(level: DoctorFindingLevel, finding: Omit<DoctorFinding, 'level'>): DoctorFinding {
  return { ...finding, level };
}

/** `a, b and 3 more`. */
export function listed(names: readonly string[], most = MAX_NAMED): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** A duration for a person: `350 ms`, `4.2 s`, `12 min`, `3 h`, `5 d`. */
export function took(ms: number): string {
  const [size, unit] = UNITS.find(([least]) => ms >= least) ?? [1, 'ms'];
  return `${Number((ms / size).toPrecision(2))} ${unit}`;
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;
