export { JournalFeed } from './journal-feed.js';
export type { Journal, JournalEntry, JournalQuery } from './journal.js';
export { RedisJournal } from './redis-journal.js';
