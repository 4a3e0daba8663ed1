import { describe, expect, it } from 'vitest';
import { SetupError } from '../base/errors.js';
import { JuteReader, JuteWriter, PacketSplitter } from './jute.js';
import { zookeeperSettings } from './zookeeper-options.js';

describe('packets of ZooKeeper', () => {
  const packets = [new JuteWriter().int(-7).text('größe'), new JuteWriter().long(2n ** 62n).bool(true)];
  const stream = Buffer.concat(packets.map((each) => each.packet()));

  it.each([1, 2, 3, 7, 1_000])('are read whole when they come in pieces of %i bytes', (size) => {
    const splitter = new PacketSplitter();
    const pieces = Array.from({ length: Math.ceil(stream.length / size) }, (_, n) =>
      stream.subarray(n * size, (n + 1) * size),
    );
    const [first, second, ...rest] = pieces
      .flatMap((piece) => [...splitter.push(piece)])
      .map((each) => new JuteReader(each));
    expect([first?.int(), first?.text()]).toEqual([-7, 'größe']);
    expect([second?.long(), second?.bool()]).toEqual([2n ** 62n, true]);
    expect(rest).toEqual([]);
  });

  it.each([
    ['has a negative length', Buffer.from([0xff, 0xff, 0xff, 0xfc, 0, 0, 0, 0])],
    ['is longer than any', Buffer.from('HTTP/1.1 400 Bad Request')],
  ])('are refused at once when one %s', (_what, bytes) => {
    expect(() => [...new PacketSplitter().push(bytes)]).toThrow(RangeError);
  });

  it('are refused when one is shorter than it says', () => {
    expect(() => new JuteReader(Buffer.from([0, 0, 0, 9, 65])).text()).toThrow(RangeError);
    expect(() => new JuteReader(Buffer.from([0])).int()).toThrow(RangeError);
  });
});

describe('the options of ZooKeeper', () => {
  it('are addresses, and the rest has defaults', () => {
    const settings = zookeeperSettings({ servers: ['a', 'b.c:2182', '[::1]:2183'] });
    expect(settings.servers).toEqual([
      { host: 'a', port: 2181 },
      { host: 'b.c', port: 2182 },
      { host: '::1', port: 2183 },
    ]);
    expect(settings).toMatchObject({ timeoutMs: 5_000, user: undefined });
  });

  it.each([
    ['no address', { servers: [] }],
    ['an address with a scheme', { servers: ['http://a:2181'] }],
    ['two addresses in one string', { servers: ['a:2181,b:2181'] }],
    ['a path', { servers: ['a:2181/chroot'] }],
    ['a timeout of 0', { servers: ['a'], timeoutMs: 0 }],
  ])('refuse %s', (_what, options) => {
    expect(() => zookeeperSettings(options)).toThrow(SetupError);
  });
});
