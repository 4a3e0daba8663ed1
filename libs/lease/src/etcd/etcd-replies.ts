import { z } from 'zod';

/**
 * What the JSON gateway answers. It writes 64-bit numbers as strings and leaves out whatever is zero, false or empty.
 * https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/
 */
const int64 = z.string().regex(/^-?\d+$/, 'Expected a whole number as a string');
const header = z.object({ revision: int64 });

const keyValue = z.object({
  value: z.string().default(''),
  create_revision: int64,
  mod_revision: int64,
  lease: int64.default('0'),
});
export type KeyValue = z.output<typeof keyValue>;

const range = z.object({ kvs: z.array(keyValue).default([]) });

export const txnReply = z.object({
  succeeded: z.boolean().default(false),
  responses: z.array(z.object({ response_range: range.optional() })).default([]),
});

export const pairsReply = z.object({
  kvs: z.array(z.object({ key: z.string(), value: z.string().default('') })).default([]),
});

export const keysReply = z.object({ kvs: z.array(z.object({ key: z.string() })).default([]) });

export const grantReply = z.object({ ID: int64 });
export const keepAliveReply = z.object({ result: z.object({ TTL: int64.default('0') }) });
export const timeToLiveReply = z.object({ TTL: int64.default('0') });
export const emptyReply = z.object({});
export const tokenReply = z.object({ token: z.string().min(1) });

export const watchMessage = z.object({
  result: z.object({
    header,
    created: z.boolean().default(false),
    canceled: z.boolean().default(false),
    events: z.array(z.object({ kv: z.object({ value: z.string().default('') }) })).default([]),
  }),
});
export type WatchMessage = z.output<typeof watchMessage>['result'];

/** An ordinary refusal has its code at the top, one inside of a stream a level below. */
export const refusal = z.union([
  z.object({ error: z.object({ grpc_code: z.number(), message: z.string() }) }).transform(({ error }) => ({
    status: error.grpc_code,
    message: error.message,
  })),
  z.object({ code: z.number(), message: z.string() }).transform(({ code, message }) => ({ status: code, message })),
]);

/** Keys and values travel as bytes. */
export function toBase64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

export function fromBase64(bytes: string): string {
  return Buffer.from(bytes, 'base64').toString('utf8');
}
