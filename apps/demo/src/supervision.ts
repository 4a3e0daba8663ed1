/** What the demo asks of the supervisor. */
export type Order =
  | {
      readonly order: 'start';
      readonly name: string;
      /** File of the program. */
      readonly program: string;
      readonly env: Readonly<Record<string, string>>;
      /** File that its output is appended to. */
      readonly log: string;
    }
  | { readonly order: 'signal'; readonly name: string; readonly signal: NodeJS.Signals };

/** What the supervisor tells. */
export type Report =
  | { readonly report: 'started'; readonly name: string; readonly pid: number | null }
  /** `how`: "exit code 1", or the name of a signal. */
  | { readonly report: 'ended'; readonly name: string; readonly how: string };
