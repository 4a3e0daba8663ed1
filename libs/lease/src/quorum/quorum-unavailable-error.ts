import { StoreAwayError } from '../base/errors.js';

export interface NodeFailure {
  readonly node: string;
  readonly error: unknown;
}

/** Too few nodes answered for a majority, so nothing is known. `errors` has what happened to each. */
export class QuorumUnavailableError extends StoreAwayError {
  readonly code = 'QUORUM_UNAVAILABLE';
  readonly errors: readonly unknown[];

  constructor(failures: readonly NodeFailure[], { of, majority }: { readonly of: number; readonly majority: number }) {
    super(
      `Expected ${majority} of the ${of} configured nodes to answer, but ${failures.map(said).join('; ')}. ` +
        `Check these nodes and the network to them; asking again is safe.`,
    );
    this.errors = failures.map(({ error }) => error);
  }
}

function said({ node, error }: NodeFailure): string {
  return `${node}: ${error instanceof Error ? error.message : String(error)}`;
}
