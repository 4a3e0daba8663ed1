/** Whether Bull Board is part of this console. */
export const HAS_BOARD = Symbol('HAS_BOARD');
