import { FencepostError, StoreAwayError } from '@fencepost/lease';

const WORDS =
  /Command timed out|Connection is closed|max retries|Socket|Stream isn't writeable|ECONN|EPIPE|ETIMEDOUT|Connection terminated|terminating connection|read timeout/i;

/** Whether an error is about the store and not about what was asked of it: the client has no class for that. */
export function isStoreTrouble(error: unknown): error is Error {
  if (error instanceof StoreAwayError) return true;
  if (!(error instanceof Error) || error instanceof FencepostError) return false;
  return error.name === 'ReplyError' || error.name === 'MaxRetriesPerRequestError' || WORDS.test(error.message);
}
