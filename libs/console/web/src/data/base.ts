/* The server tells how far it is from this address up to the console; only the browser knows by which path it is reached. */

const { up = './', board } = document.documentElement.dataset;

/** The path of the console, without a slash at its end: `/crons`. */
export const BASE = new URL(up, location.href).pathname.replace(/\/$/, '');

/** Whether this console has a Bull Board. */
export const HAS_BOARD = board !== 'no';
