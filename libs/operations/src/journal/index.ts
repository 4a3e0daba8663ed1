export { JournalFeed } from './journal-feed.js';
export type { JournalEntry } from './journal.js';
export { RedisJournal } from './redis-journal.js';
export { isJournalId } from './journal-id.js';
export type { JournalFeedDeps, JournalListener } from './journal-feed.js';
export { MAX_READ } from './journal.js';
export type { Journal, JournalLimits, JournalQuery, NewJournalEntry } from './journal.js';
export type { RedisJournalOptions } from './redis-journal.js';
