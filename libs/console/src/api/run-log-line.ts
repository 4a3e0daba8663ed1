/** A line of the log of a run, as the worker has written it. */
export interface LogLine {
  readonly at: string;
  readonly level: string;
  readonly attempt: number;
  readonly fence: string;
  readonly text: string;
}

const LINE = /^(\S+Z) (\w+) \[attempt (\d+) · fence (\d+)\] ([^]*)$/;

/** `null` for what a worker of another version has written in another form. */
export function parseLine(line: string): LogLine | null {
  const [, at, level, attempt, fence, text] = LINE.exec(line) ?? [];
  if (at === undefined || level === undefined || fence === undefined || text === undefined) return null;
  return { at, level, attempt: Number(attempt), fence, text };
}
