import { readFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Figure {
  readonly bench: string;
  readonly case: string;
  readonly claim: string;
}

/** The closing line of a command that may fail. */
function closing(command: string): Promise<{ readonly ok: boolean; readonly figures: readonly Figure[] }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [command, '--json'], { cwd: ROOT }, (_error, out) => {
      resolve(JSON.parse(out) as { ok: boolean; figures: Figure[] });
    });
  });
}

it('no figure that is on record has risen by more than 15 %', { timeout: 600_000 }, async () => {
  const recorded = JSON.parse(readFileSync(`${ROOT}bench/ratchets.json`, 'utf8')) as readonly Figure[];
  const { ok, figures } = await closing('bench/ratchets.mjs');
  expect(
    { ok, figures: figures.map(({ bench, case: of, claim }) => ({ bench, case: of, claim })) },
    JSON.stringify(figures),
  ).toEqual({
    ok: true,
    figures: recorded.map(({ bench, case: of, claim }) => ({ bench, case: of, claim })),
  });
});
