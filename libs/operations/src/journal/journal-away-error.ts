import { StoreAwayError } from '@fencepost/lease';

/** The store was not asked: nothing of what was to be written is there, and it may be tried again. */
export class JournalAwayError extends StoreAwayError {
  readonly code = 'JOURNAL_AWAY';

  constructor(status: string) {
    super(`Expected the journal connection to be ready, but it is "${status}". Try again later.`);
  }
}
