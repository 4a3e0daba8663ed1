/** The message of the error of this class that `work` throws; anything else that happens fails the test. */
export function refusalOf(type: new (...args: never[]) => Error, work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof type) return error.message;
    throw error;
  }
  throw new Error(`Expected a ${type.name}, nothing was thrown.`);
}

/** What `work` rejects with. Listens at once, so that a test can go on before it looks. */
export function rejectionOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (value) => new Error(`Expected a rejection, got ${JSON.stringify(value)}.`),
    (reason: unknown) => reason,
  );
}
