import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Clone } from './clone.js';
import { Newcomer } from './redis-newcomer.js';

describe('ensureInstalled', () => {
  let clone: Clone;

  beforeEach(() => {
    clone = new Clone();
  });

  afterEach(() => clone.discard());

  const install = () => clone.call('install', 'ensureInstalled()').ended;

  it('installs into a bare clone, says so on stderr, and leaves stdout alone', async () => {
    expect(await install()).toEqual({ code: 0, out: '', err: expect.stringContaining('node_modules is missing') });
    expect(clone.calls('npm')).toBe(1);
  });

  it('prints two lines and none of the warnings of npm', async () => {
    clone.npm(
      'echo "npm warn EBADENGINE" >&2; mkdir -p node_modules; cp package-lock.json node_modules/.package-lock.json',
    );
    const { err } = await install();
    expect(err).toMatch(/^Installing packages .*\nInstalled in \d+ s\.\n$/);
  });

  it('does nothing the second time, whatever the times of the files are', async () => {
    await install();
    clone.lock('1.0.0');
    expect(await install()).toEqual({ code: 0, out: '', err: '' });
    expect(clone.calls('npm')).toBe(1);
  });

  it('installs again when the lock file has another version', async () => {
    await install();
    clone.lock('1.0.1');
    expect((await install()).err).toContain('node_modules/left is not as package-lock.json has it');
    expect(clone.calls('npm')).toBe(2);
  });

  it('installs again after an install that was interrupted', async () => {
    await install();
    clone.remove('node_modules/.package-lock.json');
    await install();
    expect(clone.calls('npm')).toBe(2);
  });

  it('refuses a package.json that the lock file does not know of', async () => {
    clone.write('package.json', JSON.stringify({ dependencies: { right: '^1.0.0' } }));
    const { code, err } = await install();
    expect(code).toBe(1);
    expect(err).toContain('package.json and package-lock.json disagree; run "npm install"');
    expect(clone.calls('npm')).toBe(0);
  });

  it('says in a sentence that npm failed', async () => {
    clone.npm('echo "npm error network" >&2; exit 7');
    const { err } = await install();
    expect(err).toContain('npm error network');
    expect(err).toContain('"npm ci" failed (exit code 7); its own words are above');
  });

  it('lets the second of two commands wait, and then find everything done', async () => {
    clone.npm(
      'while [ ! -f go ]; do :; done; mkdir -p node_modules; cp package-lock.json node_modules/.package-lock.json',
    );
    const first = clone.call('install', 'ensureInstalled()');
    await once(first.process.stderr!, 'data');
    const second = clone.call('install', 'ensureInstalled()');
    const [said] = await once(second.process.stderr!, 'data');
    expect(String(said)).toContain(`Waiting for process ${first.process.pid}`);
    clone.write('go', '');
    expect([(await first.ended).code, (await second.ended).code]).toEqual([0, 0]);
    expect(clone.calls('npm')).toBe(1);
  });

  it('does not wait for a process that died', async () => {
    const dead = spawnSync(process.execPath, ['-e', '']).pid;
    clone.write('.cache/install.busy/pid', `${dead}`);
    expect((await install()).code).toBe(0);
    expect(clone.has('.cache/install.busy')).toBe(false);
  });
});

const LIBRARY = "debian.ensureFile('/odd/libodd.so.1', { package: 'libodd' })";

const PROGRAM = "debian.ensureProgram('oddd', { package: 'odd-server' })";

describe('a Debian package', () => {
  let machine: Newcomer;

  beforeEach(() => {
    machine = new Newcomer();
  });

  afterEach(() => machine.leave());

  describe('a program of a Debian package', () => {
    it('is taken from PATH, and nothing is installed', async () => {
      machine.program('oddd', 'true');
      machine.program('apt-get', 'true');
      expect(await machine.asks(PROGRAM, '0')).toMatchObject({ command: join(machine.bin, 'oddd') });
      expect(machine.calls('apt-get')).toEqual([]);
    });

    it('is installed by root, after an update where the lists are missing, and not started as a service', async () => {
      const install = `[ -f ${machine.home}/updated ] && cp ${machine.bin}/apt-get ${machine.bin}/oddd || exit 100`;
      const note = `echo $RUNLEVEL $SYSTEMD_OFFLINE $DEBIAN_FRONTEND > ${machine.home}/service.calls`;
      machine.program('apt-get', `case $1 in update) touch ${machine.home}/updated;; *) ${note}; ${install};; esac`);
      expect(await machine.asks(PROGRAM, '0')).toMatchObject({ command: join(machine.bin, 'oddd') });
      expect(machine.calls('apt-get').map((call) => call.split(' ')[0])).toEqual(['install', 'update', 'install']);
      expect(machine.calls('service')).toEqual(['1 1 noninteractive']);
    });

    it('waits for whoever has the package lists locked', async () => {
      const busy = `touch ${machine.home}/asked; echo "E: Could not get lock /var/lib/apt/lists/lock." >&2; exit 100`;
      const install = `cp ${machine.bin}/apt-get ${machine.bin}/oddd`;
      machine.program('apt-get', `if [ -f ${machine.home}/asked ]; then ${install}; else ${busy}; fi`);
      expect(await machine.asks(PROGRAM, '0')).toMatchObject({ how: 'just installed with apt-get' });
      expect(machine.calls('apt-get').map((call) => call.split(' ')[0])).toEqual(['install', 'install']);
    });

    it('is unpacked for who is not root, with its libraries, and found there the second time', async () => {
      machine.program('apt-get', `case $1 in download) touch a.deb b.deb;; install) echo "Inst libneeded (1)";; esac`);
      machine.program('dpkg', 'mkdir -p "$3/usr/bin" "$3/usr/lib/some-linux"; echo true > "$3/usr/bin/oddd"');
      const first = await machine.asks(PROGRAM, '1000');
      const second = await machine.asks(PROGRAM, '1000');
      expect(first).toMatchObject({ how: expect.stringContaining('just downloaded') });
      expect(second).toMatchObject({ command: first.command, how: expect.stringContaining('unpacked earlier') });
      expect(first.command).toMatch(/\.cache\/odd-server\/usr\/bin\/oddd$/);
      expect(first.env?.['LD_LIBRARY_PATH']).toContain('.cache/odd-server/usr/lib/some-linux');
      expect(machine.calls('apt-get').find((call) => call.startsWith('download'))).toMatch(/ libneeded odd-server$/);
    });

    it('with no way left says in one sentence what all of them are, and why each failed', async () => {
      machine.program('apt-get', 'echo "E: Unable to locate package odd-server" >&2; exit 100');
      machine.program('dpkg', 'exit 1');
      expect((await machine.asks(PROGRAM, '0')).error).toBe(
        'There is no oddd to work with: have it on this machine (it is not there), or run as root where apt-get can ' +
          'install odd-server (E: Unable to locate package odd-server), or let apt-get download odd-server without root ' +
          '(E: Unable to locate package odd-server).',
      );
    });
  });

  describe('a file of a Debian package', () => {
    it('is found where dpkg says it lies', async () => {
      const file = join(machine.folder('lib/odd'), 'libodd.so.1');
      machine.program('dpkg', `touch ${file}; echo /elsewhere; echo ${file}`);
      expect(await machine.asks(LIBRARY, '1000')).toMatchObject({ path: file });
    });

    it('is unpacked for who is not root', async () => {
      machine.program('apt-get', 'case $1 in download) touch a.deb;; esac');
      machine.program('dpkg', '[ $1 = -x ] && mkdir -p "$3/usr/lib/odd" && touch "$3/usr/lib/odd/libodd.so.1"');
      const { path = '' } = await machine.asks(LIBRARY, '1000');
      expect(path).toMatch(/\.cache\/libodd\/usr\/lib\/odd\/libodd\.so\.1$/);
      expect(existsSync(path)).toBe(true);
    });
  });
});
