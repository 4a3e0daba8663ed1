import type { ClaimReply } from '@fencepost/ledger';
import type { Model } from '../support/linearizability.js';

export interface ClaimInput {
  readonly fence: number;
  readonly term: string;
  readonly generation: number;
  /** Where the plan began. */
  readonly cursor: number | null;
  /** The last instant it decides. */
  readonly through: number;
}

export interface CursorState {
  readonly fence: number;
  readonly term: string;
  readonly generation: number;
  readonly cursor: number | null;
}

/** The cursor of one cron as it has to behave, whoever claims: it moves forward only, and only for who isn't behind. */
export const CLAIM_MODEL: Model<CursorState, ClaimInput, ClaimReply> = {
  initial: { fence: 0, term: '', generation: 0, cursor: null },
  step(state, input, output) {
    const isStale = input.fence < state.fence || (input.fence === state.fence && input.term !== state.term);
    const isOutdated = input.generation < state.generation;
    const isElsewhere = input.cursor !== state.cursor || (state.cursor !== null && input.through <= state.cursor);
    switch (output?.verdict) {
      case 'stale':
        return isStale && output.fence === state.fence ? state : null;
      case 'stale-definition':
        return !isStale && isOutdated && output.generation === state.generation ? state : null;
      case 'moved':
        return !isStale && !isOutdated && isElsewhere && output.cursor === state.cursor ? state : null;
      case 'early':
        return isStale || isOutdated || isElsewhere ? null : state;
      case 'claimed':
      case 'skipped':
      case 'recorded':
      case undefined:
        return isStale || isOutdated || isElsewhere ? null : accepted(input);
    }
  },
};

function accepted({ fence, term, generation, through }: ClaimInput): CursorState {
  return { fence, term, generation, cursor: through };
}
