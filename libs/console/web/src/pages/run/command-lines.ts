import type { Run } from '../../data/types.js';

/** What does the same in a terminal. */
export function commandLines({ id, cron, scheduledAt, state }: Pick<Run, 'id' | 'cron' | 'scheduledAt' | 'state'>) {
  const isOver = state === 'failed' || state === 'cancelled';
  return {
    run: `fencepost run ${id}`,
    why: `fencepost why ${cron} ${scheduledAt}`,
    retry: isOver ? `fencepost retry ${id} --reason ''` : null,
  };
}
