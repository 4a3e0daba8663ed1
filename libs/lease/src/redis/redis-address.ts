/** Whether `url` is a `redis://` or `rediss://` address. */
export function isRedisUrl(url: string): boolean {
  return URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol);
}

/** An address as messages show it: without credentials and query, also when it isn't an address at all. */
export function redactUrl(url: string): string {
  return url.replace(/^([a-z]+:\/\/)?.*@/is, '$1***@').replace(/\?.*$/s, '');
}
