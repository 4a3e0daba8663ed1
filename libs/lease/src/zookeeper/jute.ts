/**
 * Jute, the encoding of ZooKeeper's protocol: numbers in big endian, texts and bytes behind their length, −1 for none.
 * https://github.com/apache/zookeeper/blob/branch-3.8/zookeeper-jute/src/main/resources/zookeeper.jute
 */
export class JuteWriter {
  readonly #parts: Buffer[] = [];

  int(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return this.#push(bytes);
  }

  long(value: bigint): this {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(value);
    return this.#push(bytes);
  }

  bool(value: boolean): this {
    return this.#push(Buffer.from([value ? 1 : 0]));
  }

  bytes(value: Buffer): this {
    return this.int(value.length).#push(value);
  }

  text(value: string): this {
    return this.bytes(Buffer.from(value, 'utf8'));
  }

  /** The packet, behind its length. */
  packet(): Buffer {
    const length = Buffer.alloc(4);
    length.writeInt32BE(this.#parts.reduce((sum, part) => sum + part.length, 0));
    return Buffer.concat([length, ...this.#parts]);
  }

  #push(bytes: Buffer): this {
    this.#parts.push(bytes);
    return this;
  }
}

/** @throws {RangeError} by Node, where a packet is shorter than it says */
export class JuteReader {
  #at = 0;

  constructor(readonly packet: Buffer) {}

  int(): number {
    return this.packet.readInt32BE(this.skip(4));
  }

  long(): bigint {
    return this.packet.readBigInt64BE(this.skip(8));
  }

  bool(): boolean {
    return this.packet.readUInt8(this.skip(1)) === 1;
  }

  bytes(): Buffer {
    const length = Math.max(0, this.int());
    const at = this.skip(length);
    return this.packet.subarray(at, at + length);
  }

  text(): string {
    return this.bytes().toString('utf8');
  }

  /** @returns where it was */
  skip(length: number): number {
    const at = this.#at;
    this.#at += length;
    if (this.#at > this.packet.length) throw new RangeError('A packet of ZooKeeper is shorter than it says.');
    return at;
  }
}

/** ZooKeeper's own limit, `jute.maxbuffer`, is 1 MB; what is longer comes from another kind of server. */
const MAX_LENGTH = 2 ** 26;

/** Cuts a stream of bytes into packets, which come behind their length. */
export class PacketSplitter {
  #rest: Buffer = Buffer.alloc(0);

  /** @throws {RangeError} for a length that is none */
  *push(bytes: Buffer): Generator<Buffer> {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= 4) {
      const length = this.#rest.readInt32BE(0);
      if (length < 0 || length > MAX_LENGTH) throw new RangeError(`A packet of ZooKeeper has no length of ${length}.`);
      const end = 4 + length;
      if (this.#rest.length < end) return;
      const packet = this.#rest.subarray(4, end);
      this.#rest = this.#rest.subarray(end);
      yield packet;
    }
  }
}
