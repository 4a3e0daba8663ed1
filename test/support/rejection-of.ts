/** What `work` rejects with. Listens at once, so that a test can go on before it looks. */
export function rejectionOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (value) => new Error(`Expected a rejection, got ${JSON.stringify(value)}.`),
    (reason: unknown) => reason,
  );
}
