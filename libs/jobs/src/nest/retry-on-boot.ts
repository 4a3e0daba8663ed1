import { FencepostError, StoreAwayError } from '@fencepost/lease';

const MAX_TRIES = 5;

/**
 * Asks a store while the process starts. A start competes with itself for the processor, so an answer that came in time may
 * be read too late; giving up at the first one would turn a busy machine into a pod that doesn't start.
 */
export async function retryOnBoot<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (isRefusal(error) || tries === MAX_TRIES) throw error;
    }
  }
}

/** What is thrown on purpose would be thrown again, unless it says that a store did not answer. */
const isRefusal = (error: unknown) => error instanceof FencepostError && !(error instanceof StoreAwayError);
