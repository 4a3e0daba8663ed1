import { isAmbiguous, parseDuration } from '@fencepost/lease/internal/options';
import { z } from 'zod';

/** An option such as `'30s'` or a whole number of milliseconds (1,000 and more, or 0), between two bounds; becomes milliseconds. */
export function duration(shortest: string, longest: string) {
  const expected = `expected a duration from '${shortest}' to '${longest}'`;
  const [least, most] = [parseDuration(shortest), parseDuration(longest)];
  return z.union([z.string(), z.number()], expected).transform((value, context) => {
    const ms = milliseconds(value);
    if (!isAmbiguous(value) && ms !== null && ms >= least && ms <= most) return ms;
    const unit = isAmbiguous(value) ? ` with its unit, '${value}s' or '${value}ms'` : '';
    context.addIssue({ code: 'custom', message: `${expected}${unit}` });
    return z.NEVER;
  });
}

function milliseconds(value: string | number): number | null {
  try {
    return parseDuration(value);
  } catch {
    return null;
  }
}
