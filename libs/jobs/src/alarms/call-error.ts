import { FencepostError } from '@fencepost/lease';

/** Somebody outside was called, and did not take it. Says the host and nothing else of the address. */
export class CallError extends FencepostError {
  readonly code = 'CALL_FAILED';

  constructor(host: string, why: string) {
    super(`Expected ${host} to take the message, and ${why}. It is called again until it does, or is given up.`);
  }
}
