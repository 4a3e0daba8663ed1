/** What every measured process does: opens its worker, says that it is ready, and does from then on what it is told. */
export async function serve(open) {
  process.on('disconnect', () => process.exit());
  const worker = await open(JSON.parse(process.argv[2]));
  process.on('message', ({ say, ...order }) => {
    void worker[say](order).then(
      (told) => process.send({ told }),
      (error) => process.send({ failed: String(error?.stack ?? error) }),
    );
  });
  process.send({ ready: true });
}
