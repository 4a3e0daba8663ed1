import type { OperatorAction } from './run.js';

/** What a script is given to note with `note-action`; it puts the store's clock before it. */
export function writeAction(action: Omit<OperatorAction, 'at'>): string {
  const { action: kind, by, reason, runId } = action;
  return JSON.stringify({ action: kind, by, reason, runId });
}

/** An entry as `note-action` writes it: `<epoch ms> <JSON>`. */
export function readAction(entry: string): OperatorAction {
  const space = entry.indexOf(' ');
  const action = JSON.parse(entry.slice(space + 1)) as Omit<OperatorAction, 'at'>;
  return { at: Number(entry.slice(0, space)), ...action };
}
