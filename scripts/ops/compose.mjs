import { DCLinter } from 'dclint';

/**
 * What the JSON schema of the Compose specification, and rules for ports, images and dependencies, object to. No container starts.
 * @param {string} file
 * @returns {string[]} a sentence for each
 */
export function objectionsToCompose(file) {
  const linter = new DCLinter({ rules: {}, quiet: true, debug: false, exclude: [] });
  const messages = linter.lintFiles([file], false).flatMap((result) => result.messages);
  return messages.filter(({ type }) => type === 'error').map(({ rule, message }) => `${rule}: ${message}`);
}
