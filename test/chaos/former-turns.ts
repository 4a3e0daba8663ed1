const PHASES = ['former', 'both', 'this', 'this', 'both'] as const;
/** Each place is taken anew once or twice in one. */
const LAUNCHES_A_PHASE = 10;

/** The fleet begins with the format before, rolls forward past a time in which they take turns, stays there, and rolls back. */
export function isFormerTurn(launches: number): boolean {
  const phase = Math.floor(launches / LAUNCHES_A_PHASE) % PHASES.length;
  return PHASES[phase] === 'former' || (PHASES[phase] === 'both' && launches % 2 === 0);
}
