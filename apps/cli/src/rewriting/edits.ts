import { createTwoFilesPatch } from 'diff';

/** A part of a text that is replaced; with the same end as beginning, something is put there. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** From the end, so that what is before keeps its place; of two at one place the first comes first. */
export function edited(text: string, edits: readonly Edit[]): string {
  const ordered = edits.toReversed().toSorted((a, b) => b.from - a.from);
  return ordered.reduce((all, edit) => all.slice(0, edit.from) + edit.text + all.slice(edit.to), text);
}

export interface Change {
  readonly file: string;
  readonly before: string;
  readonly text: string;
}

/** As `git diff` shows it. */
export function diffOf({ file, before, text }: Change): string {
  const name = file.replaceAll('\\', '/');
  return createTwoFilesPatch(`a/${name}`, `b/${name}`, before, text, undefined, undefined, { context: 3 });
}
