/** What a schedule is made of, as a message names it. */
export type SchedulePart = 'expression' | 'timeZone' | 'seed' | 'dst' | 'spreadMs' | 'minIntervalMs';

/** Something about a schedule is wrong: which part of it, and what was expected there instead. */
export class ScheduleError extends Error {
  constructor(
    readonly part: SchedulePart,
    readonly expected: string,
  ) {
    super(`Expected ${part} to be ${expected}.`);
    this.name = new.target.name;
  }
}

/** What is wrong is a text that a person wrote. */
export class ScheduleTextError extends ScheduleError {
  constructor(
    override readonly part: 'expression' | 'timeZone' | 'seed',
    expected: string,
  ) {
    super(part, expected);
  }
}
