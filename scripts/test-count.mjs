import { existsSync, readFileSync } from 'node:fs';

/**
 * The true numbers of a run, from vitest's own report. A file that could not even be loaded has no failed test in it,
 * and is none the less one failure.
 * @param {string} report the file the json reporter wrote, or did not
 */
export function countOf(report) {
  if (!existsSync(report)) return { passed: 0, failed: 0, skipped: 0 };
  const results = JSON.parse(readFileSync(report, 'utf8'));
  const unloaded = results.testResults.filter((file) => file.status === 'failed' && !hasFailedTest(file)).length;
  return {
    passed: results.numPassedTests,
    failed: results.numFailedTests + unloaded,
    skipped: results.numPendingTests + results.numTodoTests,
  };
}

function hasFailedTest({ assertionResults }) {
  return assertionResults.some(({ status }) => status === 'failed');
}

/** @param {{ passed: number, failed: number, skipped: number }} count */
export function sentence({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`;
}
