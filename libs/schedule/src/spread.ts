import { createHash } from 'node:crypto';

/**
 * How much later than its instants a cron is due: a whole number of milliseconds from 0 up to, but not, `spreadMs`. The
 * same for a name on every machine and for ever, since it comes from a hash; that of another name is as good as random.
 */
export function spreadOf(name: string, spreadMs: number): number {
  if (!(spreadMs >= 1)) return 0;
  const hash = createHash('sha256').update(`spread:${name}`).digest().readUIntBE(0, 6);
  // 48 bits: what the remainder favours is less than one in a million even for a spread of years.
  return hash % Math.floor(spreadMs);
}
