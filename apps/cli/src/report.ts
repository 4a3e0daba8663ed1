export const FORMATS = ['table', 'wide', 'json', 'name'] as const;

/** As they stand on the command line. */
export interface OutputFlags {
  readonly output?: (typeof FORMATS)[number];
  /** The same as `-o json`. */
  readonly json?: boolean;
}

/** What a command answers. The same facts twice: for a program, and for a person. */
export interface Report {
  /** The exit code. */
  readonly code: number;
  readonly json: unknown;
  /** Lines that are at most so wide, where the words allow it. */
  readonly text: (width: number) => readonly string[];
  /** The same with more columns, where there are more. */
  readonly wide?: (width: number) => readonly string[];
  /** What it is about, one name each; default: the ids and names in `json`. */
  readonly names?: readonly string[];
}

/** An instant as all JSON here has it. */
export function iso(at: number): string;
export function iso(at: number | null): string | null;
export function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** The same for a person, to the second. */
export function shortIso(at: number | string): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}
