import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Runs `main` when the module at `moduleUrl` is what was typed, and not when it is imported. What `main` returns is the
 * exit code; an error is a sentence for a person, so its stack stays out of the way.
 */
export async function program(moduleUrl, main) {
  if (!process.argv[1] || realpathSync(process.argv[1]) !== fileURLToPath(moduleUrl)) return;
  try {
    process.exitCode = (await main(process.argv.slice(2))) ?? 0;
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
