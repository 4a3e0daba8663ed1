/** No log line needs more depth. */
const DEEPEST = 8;
/** So many values of one line, over all depths: a whole response must not be walked through on the path of a run. */
const MAX_VALUES = 500;

interface Walk {
  /** What the walk is inside of: a value that contains itself has no end. */
  readonly inside: unknown[];
  left: number;
}

/**
 * A value as a log may show it: a copy, without what is named like a secret, at any depth, and without the secrets in its
 * texts. Errors become plain objects, of bytes only the count is shown. Bounded in depth and size, never throws, and leaves
 * the value as it is.
 *
 * Texts lose what `scrubText` finds. What is named `payload` is hidden as a whole.
 */
export function scrub<T>(value: T): T {
  return walked(value, { inside: [], left: MAX_VALUES }) as T;
}

function walked(value: unknown, walk: Walk): unknown {
  if (typeof value === 'string') return scrubText(value);
  if (typeof value === 'function' || typeof value === 'symbol') return `[${typeof value}]`;
  if (typeof value !== 'object' || value === null) return value;
  if (walk.inside.includes(value)) return '[circular]';
  if (walk.inside.length >= DEEPEST || walk.left <= 0) return '[more]';
  walk.inside.push(value);
  try {
    return walkedObject(value, walk);
  } catch {
    return '[unreadable]';
  } finally {
    walk.inside.pop();
  }
}

function walkedObject(value: object, walk: Walk): unknown {
  if (Array.isArray(value)) return walkedList(value, walk);
  if (value instanceof Error) return walkedError(value, walk);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof URL) return scrubText(value.href);
  if (value instanceof RegExp) return scrubText(String(value));
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Set) return walkedList([...value], walk);
  if (value instanceof Map) return walkedFields(mapEntries(value), walk);
  if ('toJSON' in value && typeof value.toJSON === 'function') return walked(value.toJSON(), walk);
  return walkedFields(Object.entries(value), walk);
}

function walkedList(list: readonly unknown[], walk: Walk): unknown[] {
  const shown: unknown[] = [];
  for (const value of list) {
    if (walk.left <= 0) return [...shown, '[more]'];
    walk.left -= 1;
    shown.push(walked(value, walk));
  }
  return shown;
}

function walkedFields(entries: readonly (readonly [string, unknown])[], walk: Walk): object {
  const shown: [string, unknown][] = [];
  for (const [key, value] of entries) {
    if (walk.left <= 0) return Object.fromEntries([...shown, ['…', '[more]']]);
    walk.left -= 1;
    shown.push([scrubText(key), isSecretKey(key) ? hidden(value) : walked(value, walk)]);
  }
  return Object.fromEntries(shown);
}

/** Whether there is one is no secret. */
function hidden(value: unknown): unknown {
  return value === null || value === undefined || typeof value === 'boolean' ? value : HIDDEN;
}

/** Name, message and stack aren't enumerable. Other fields, such as a failed command, come from libraries and are left out. */
function walkedError(error: Error, walk: Walk): object {
  const { name, message, stack, cause } = error;
  const said = { type: name, message: scrubText(message), ...(stack === undefined ? {} : { stack: scrubText(stack) }) };
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  const others = error instanceof AggregateError ? { errors: walked(error.errors, walk) } : {};
  return { ...said, ...code, ...others, ...(cause === undefined ? {} : { cause: walked(cause, walk) }) };
}

function mapEntries(map: ReadonlyMap<unknown, unknown>): (readonly [string, unknown])[] {
  return [...map].map(([key, value]) => [typeof key === 'string' ? key : `[${typeof key}]`, value] as const);
}

/** What names a secret, wherever it stands in a name: `dbPassword`, `X-Api-Key`, `refresh_token`. A source for patterns. */
const SECRET_WORDS =
  'passw(?:or)?d|passphrase|pwd|secret|token|authorization|cookie|api[-_]?key|access[-_]?key|private[-_]?key|credential|signature|jwt';

/** A payload is no secret, but it is the user's, and may hold any. */
const SECRET_KEY = new RegExp(`${SECRET_WORDS}|payload|^(?:auth|sig|key|pass|session|session[-_]?id)$`, 'i');

/** A log has some dozens of field names; the cache must stay bounded if names never end. */
const MAX_KEPT = 1_000;

const known = new Map<string, boolean>();

/** Whether a field of this name is hidden. Cached: matching the pattern for every field would be most of the cost. */
function isSecretKey(key: string): boolean {
  const answer = known.get(key);
  if (answer !== undefined) return answer;
  const found = SECRET_KEY.test(key);
  if (known.size >= MAX_KEPT) known.clear();
  known.set(key, found);
  return found;
}

/** What stands where a secret stood. */
const HIDDEN = '***';

/** A log line needs no more, and matching costs time per character. */
const MAX_TEXT_LENGTH = 8_000;

/** Without one of these a text can't have any of the secrets below; most texts have none, and are asked only this. */
const SUSPICIOUS = new RegExp(
  `://|eyj|bearer|basic |args beginning|-----begin|whsec_|akia|(?:gh[opsur]|sk_(?:live|test)|github_pat)_|xox[a-z]-|glpat-|[?&;\\s](?:sig|key|auth|pass)=|${SECRET_WORDS}`,
  'i',
);

/** Prefixes of secrets: large services give their tokens a recognisable form. */
const KNOWN_FORMS =
  /whsec_[\w+/=-]+|\b(?:gh[opsur]_|github_pat_|glpat-|sk_live_|sk_test_|xox[a-z]-)[\w-]{6,}|\bAKIA[0-9A-Z]{12,}/g;

const VALUE = String.raw`(?:(?:bearer|basic)\s+)?(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\"[^"\\]*\\"|(?!(?:bearer|basic)\s)[^\s&;,"'}\])<>]+)`;

/** `password=…`, `"token":"…"`, `X-Api-Key: …`; also in a query string, and in JSON that was quoted once more. */
const NAMED = new RegExp(
  String.raw`([\w.-]{0,40}(?:${SECRET_WORDS})(?![\w.-]{0,20}Error)[\w.-]{0,20}\\?["']?\s{0,3}(?:=|:(?!//))\s{0,3}|\b(?:sig|key|auth|pass)=)${VALUE}`,
  'gi',
);

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // Redis repeats the arguments of a command that it doesn't know.
  [/,? with args beginning with:[^]*$/, ''],
  [/-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g, HIDDEN],
  // Up to the last @ of the word: a password may contain @ or a slash, although it should not.
  [/\b(?!file:)([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s"'<>]*@/gi, `$1${HIDDEN}@`],
  [/\beyJ[\w-]{4,}\.[\w-]{4,}(?:\.[\w-]*){0,3}/g, HIDDEN],
  [KNOWN_FORMS, HIDDEN],
  // Several values on one line, all of them secret.
  [/\b((?:set-)?cookie\\?["']?\s{0,3}[:=]\s{0,3})(?!\\?["'])[^\r\n"]+/gi, `$1${HIDDEN}`],
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${HIDDEN}`],
  [NAMED, `$1${HIDDEN}`],
];

/**
 * A text as a log may show it: without the secrets that can be recognised. User and password of an
 * address, values that are named like a secret, bearer tokens, JSON Web Tokens, private keys.
 *
 * A bare secret, under no name and in no known form, can't be recognised.
 */
export function scrubText(text: string): string {
  const short = text.length > MAX_TEXT_LENGTH ? cut(text) : text;
  if (!SUSPICIOUS.test(short)) return short;
  let clean = short;
  for (const [pattern, instead] of PATTERNS) clean = clean.replace(pattern, instead);
  return clean;
}

/** Whether the text may have a secret: so cheap that it can be asked of every line. */
export function isSuspicious(text: string): boolean {
  return SUSPICIOUS.test(text);
}

/**
 * At the end of a word: half a password could not be recognised. A word that fills most of the text is cut inside, unless a secret
 * may begin in it.
 */
function cut(text: string): string {
  const short = text.slice(0, MAX_TEXT_LENGTH);
  const end = Math.max(short.lastIndexOf(' '), short.lastIndexOf('\n'), 0);
  const isInWord = end < MAX_TEXT_LENGTH / 2 && !SUSPICIOUS.test(short.slice(end));
  return `${isInWord ? short : short.slice(0, end)}…`;
}

/** Nest repeats the whole address of a route that does not exist. */
export function withoutQuery(text: string): string {
  return text.replace(/^(Cannot [A-Z]+ [^?]*)\?.*$/s, '$1');
}
