import { expect, test } from 'vitest';
import { describeDaemon, type Info, type Self } from '../../src/process/docker-daemon.ts';
import { fromInside } from '../../src/process/docker-exec.ts';
import { layerCount } from '../../src/process/docker-image.ts';

const linux: Self = { platform: 'linux', user: { uid: 1000, gid: 100 } };
const mac: Self = { platform: 'darwin', user: { uid: 501, gid: 20 } };
const docker: Info = {
  ServerVersion: '28.2.2',
  OperatingSystem: 'Debian GNU/Linux 12',
  SecurityOptions: ['name=seccomp'],
};
const podman: Info = { version: { Version: '5.4.0' }, host: { security: { rootless: false } } };

test.for<{ what: string; info: Info; self: Self; expected: object }>([
  {
    what: 'Docker',
    info: docker,
    self: linux,
    expected: { name: 'Docker 28.2.2', userFlags: ['--user', '1000:100'], isVirtual: false },
  },
  {
    what: 'Docker without root',
    info: { ...docker, SecurityOptions: ['name=seccomp,profile=builtin', 'name=rootless', 'name=cgroupns'] },
    self: linux,
    expected: { userFlags: ['--user', '0:0'], isVirtual: false },
  },
  {
    what: 'Docker Desktop on macOS',
    info: { ...docker, OperatingSystem: 'Docker Desktop', SecurityOptions: null },
    self: mac,
    expected: { userFlags: ['--user', '501:20'], isVirtual: true },
  },
  {
    what: 'Docker Desktop on Linux',
    info: { ...docker, OperatingSystem: 'Docker Desktop' },
    self: linux,
    expected: { userFlags: ['--user', '1000:100'], isVirtual: true },
  },
  {
    what: 'Podman',
    info: podman,
    self: linux,
    expected: { name: 'Podman 5.4.0', userFlags: ['--user', '1000:100'], isVirtual: false },
  },
  {
    what: 'Podman without root',
    info: { ...podman, host: { security: { rootless: true } } },
    self: linux,
    expected: { userFlags: ['--userns=keep-id', '--user', '1000:100'], isVirtual: false },
  },
  {
    what: 'Docker where users have no numbers',
    info: docker,
    self: { platform: 'win32', user: null },
    expected: { userFlags: [], isVirtual: true },
  },
])('files belong to this user with $what, and localhost is recognized', ({ info, self, expected }) => {
  expect(describeDaemon('docker', { info, self })).toMatchObject(expected);
});

test.for([
  ['postgres://app@localhost:5432/db?sslmode=require', 'postgres://app@host.docker.internal:5432/db?sslmode=require'],
  ['postgres://app@LOCALHOST/db', 'postgres://app@host.docker.internal/db'],
  ['postgres://127.0.0.1,[::1]:5433,db:1/x', 'postgres://host.docker.internal,host.docker.internal:5433,db:1/x'],
  ['postgres://localhost@db/localhost', 'postgres://localhost@db/localhost'],
  ['postgres:///db', 'postgres:///db'],
  ['postgres://%2Ftmp/db', 'postgres://%2Ftmp/db'],
  ['--host=localhost', '--host=host.docker.internal'],
  ['--host=::1', '--host=host.docker.internal'],
  ['--host=localhost.example.com', '--host=localhost.example.com'],
  ['--dbname', '--dbname'],
  ['localhost', 'localhost'],
])('from inside a virtual machine %s is %s', ([outside, inside]) => {
  expect(fromInside(outside ?? '')).toBe(inside);
});

test('a pull is counted in layers by the lines of docker', () => {
  const said = [
    '17: Pulling from library/postgres',
    'a5a1e8e5e5a1: Already exists',
    'b5a1e8e5e5a1: Pulling fs layer',
    'c5a1e8e5e5a1: Pulling fs layer',
    'b5a1e8e5e5a1: Verifying Checksum',
    'b5a1e8e5e5a1: Download complete',
    'b5a1e8e5e5a1: Pull complete',
    'Digest: sha256:0123',
  ];
  const count = layerCount();
  expect(said.map(count).map(({ done, total }) => `${done}/${total}`)).toEqual([
    ...['0/0', '1/1', '1/2', '1/3', '1/3', '1/3', '2/3', '2/3'],
  ]);
});
