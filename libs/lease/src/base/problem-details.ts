/** The media type of problem details (RFC 9457). */
export const PROBLEM_JSON = 'application/problem+json';

/** Where each type is described, under its code in kebab case. */
const TYPES = 'https://fencepost.dev/problems/';

interface Said {
  readonly status: number;
  /** What kind of problem it is: the same each time. */
  readonly title: string;
  /** What happened this time, and what to do. */
  readonly detail: string;
}

/** The body of an HTTP error (RFC 9457), with the stable `code` of the error that it answers for. */
export function problemDetails(code: string, { status, title, detail }: Said) {
  return { type: TYPES + code.toLowerCase().replaceAll('_', '-'), title, status, detail, code };
}
