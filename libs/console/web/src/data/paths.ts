const part = encodeURIComponent;

/** Places of this page, under its base. */
export const to = {
  /** @param at the instant that is asked about; it is explained beside the timeline */
  cron: (name: string, at?: string) => `/cron/${part(name)}${at === undefined ? '' : `?at=${part(at)}`}`,
  cronTab: (name: string, tab: string) => `/cron/${part(name)}?tab=${part(tab)}`,
  run: (id: string) => `/run/${part(id)}`,
};

/** The words that are set, as a query string. */
export function query(words: Readonly<Record<string, string | number | undefined>>): string {
  const set = Object.entries(words).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(set.map(([key, value]): [string, string] => [key, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}
