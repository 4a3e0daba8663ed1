import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

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

const SLOWEST = 10;

/**
 * The specs that took the longest, one line each, the slowest first.
 * @param {string} report the file the json reporter wrote, or did not
 * @param {string} root the folder that paths are relative to
 */
export function slowestSpecs(report, root) {
  if (!existsSync(report)) return [];
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  return testResults
    .map(({ name, startTime, endTime }) => ({ path: relative(root, name), seconds: (endTime - startTime) / 1_000 }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST)
    .map(({ path, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${path}`);
}
