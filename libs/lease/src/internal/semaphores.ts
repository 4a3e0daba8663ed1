/** Not public API: semaphores in Redis without the rest of `coordination`, for a worker that limits its runs. */

export { RedisSemaphoreStore } from '../coordination/redis-semaphore-store.js';
export { Semaphores } from '../coordination/semaphore.js';
export type { SemaphoreStore } from '../coordination/semaphore-store.js';
