/** The queue as pages look at it. */
export const READ_QUEUE = Symbol('READ_QUEUE');
