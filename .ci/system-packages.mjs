import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runWithoutServices } from './without-services.mjs';

const CLUSTER_SETTINGS = '/etc/postgresql-common/createcluster.conf';

/** Programs that the demo and the tests need and npm cannot bring. */
const systemPackages = [
  {
    name: 'PostgreSQL, server and client programs',
    programs: ['initdb', 'postgres', 'pg_ctl', 'psql', 'pg_dump', 'pg_restore'],
    usualPlaces: debianVersions('/usr/lib/postgresql').concat(
      ['/opt/homebrew/opt', '/usr/local/opt'].flatMap((cellar) => homebrewVersions(cellar)),
      debianVersions('/Applications/Postgres.app/Contents/Versions'),
    ),
    debian: ['postgresql'],
    beforehand: keepServerFromStarting,
    changes: [`installs postgresql-common first, and sets create_main_cluster = false in ${CLUSTER_SETTINGS}`],
    elsewhere: 'macOS: brew install postgresql@17; others: https://www.postgresql.org/download/',
    neededBy: 'the demo and the tests on a real PostgreSQL server',
  },
  {
    name: 'a keychain: gnome-keyring in a D-Bus session',
    programs: ['dbus-run-session', 'gnome-keyring-daemon'],
    usualPlaces: [],
    debian: ['gnome-keyring', 'dbus', 'libsecret-1-0'],
    elsewhere:
      'other Linux: the packages gnome-keyring, dbus and libsecret; macOS and Windows have a keychain of their own',
    neededBy: 'the tests of the keychain',
    onlyForTests: true,
    startsServices: true,
  },
  {
    name: "an S3 service: Ceph's RADOS gateway; rclone and s3cmd to compare with",
    programs: [
      'radosgw',
      'radosgw-admin',
      'ceph',
      'ceph-mon',
      'ceph-osd',
      'ceph-authtool',
      'monmaptool',
      'rclone',
      's3cmd',
    ],
    usualPlaces: [],
    debian: ['radosgw', 'ceph-mon', 'ceph-osd', 'ceph-common', 'rclone', 's3cmd'],
    elsewhere: 'the tests start a service of their own, on Linux only',
    neededBy: 'the tests of buckets',
    onlyForTests: true,
    startsServices: true,
  },
  {
    name: 'MariaDB, server and client programs; mydumper to compare with',
    // The server's plugins, such as the one for ed25519, are not in mariadb-server-core.
    programs: ['mariadbd', 'mariadb-install-db', 'mariadb', 'mariadb-dump', 'mydumper', 'myloader', 'auth_ed25519.so'],
    usualPlaces: ['/usr/sbin', '/usr/lib/mysql/plugin'],
    debian: ['mariadb-server', 'mariadb-client', 'mydumper'],
    elsewhere: 'the tests start servers of their own, on Debian only',
    neededBy: 'the tests on a real MariaDB server',
    onlyForTests: true,
    startsServices: true,
  },
  {
    name: 'Docker, and debootstrap for what is in its images',
    programs: ['dockerd', 'docker', 'debootstrap'],
    usualPlaces: ['/usr/sbin'],
    debian: ['docker.io', 'debootstrap'],
    elsewhere: 'the tests start a daemon of their own, as root on Debian only',
    neededBy: 'the tests with client programs in containers',
    onlyForTests: true,
    startsServices: true,
  },
  {
    name: 'an SSH server',
    programs: ['sshd'],
    usualPlaces: ['/usr/sbin'],
    debian: ['openssh-server', 'openssh-client'],
    elsewhere: 'macOS has one; others: the package openssh-server',
    neededBy: 'the tests of tunnels',
    onlyForTests: true,
    startsServices: true,
  },
  {
    name: 'the shells zsh and fish',
    programs: ['zsh', 'fish'],
    usualPlaces: [],
    debian: ['zsh', 'fish'],
    elsewhere: 'macOS: brew install fish',
    neededBy: 'the tests of the completion in these shells',
    onlyForTests: true,
  },
  {
    name: 'ShellCheck, Ruby and rpmbuild',
    programs: ['shellcheck', 'ruby', 'rpmbuild'],
    usualPlaces: [],
    debian: ['shellcheck', 'ruby', 'rpm'],
    elsewhere: 'macOS: brew install shellcheck rpm',
    neededBy: 'the tests of install.sh, the Homebrew formula and the RPM package',
    onlyForTests: true,
  },
  {
    name: 'Chromium',
    programs: ['chromium'],
    usualPlaces: [],
    debian: ['chromium'],
    elsewhere: 'the package chromium',
    neededBy: 'the tests of the pages of the hub in a real browser',
    onlyForTests: true,
    startsServices: true,
  },
  {
    name: 'Django',
    programs: ['django', 'environ', 'psycopg2'],
    usualPlaces: ['/usr/lib/python3/dist-packages'],
    debian: ['python3-django', 'python3-django-environ', 'python3-psycopg2'],
    elsewhere: 'the tests use the packages of Debian only',
    neededBy: 'the tests of examples/working-trees/django',
    onlyForLongTests: true,
  },
  {
    name: 'Rails',
    programs: ['ruby-rails', 'ruby-pg'],
    usualPlaces: ['/usr/share/doc'],
    debian: ['ruby-rails', 'ruby-pg'],
    elsewhere: 'the tests use the packages of Debian only',
    neededBy: 'the tests of examples/working-trees/rails',
    onlyForLongTests: true,
  },
  {
    name: 'Go, with a driver for PostgreSQL',
    programs: ['go', 'pq', 'godotenv'],
    usualPlaces: ['/usr/share/gocode/src/github.com/lib', '/usr/share/gocode/src/github.com/joho'],
    debian: ['golang-go', 'golang-github-lib-pq-dev', 'golang-github-joho-godotenv-dev'],
    elsewhere: 'the tests use the packages of Debian only',
    neededBy: 'the tests of examples/working-trees/go',
    onlyForLongTests: true,
  },
  {
    name: 'Laravel and PHPUnit',
    programs: ['php', 'phpunit', 'Foundation', 'php-pgsql'],
    usualPlaces: ['/usr/share/php/Illuminate', '/usr/share/doc'],
    debian: ['php-laravel-framework', 'php-cli', 'php-pgsql', 'phpunit'],
    elsewhere: 'the tests use the packages of Debian only',
    neededBy: 'the tests of examples/working-trees/laravel',
    onlyForLongTests: true,
  },
];

/** Installs what is missing on Debian as root; elsewhere says what is missing and where to get it. Never fails. */
export function installSystemPackages({ forTests }) {
  const long = process.env.TEST_FULL === '1';
  const relevant = systemPackages.filter(
    ({ onlyForTests, onlyForLongTests }) => (forTests || !onlyForTests) && (long || !onlyForLongTests),
  );
  for (const wanted of relevant.filter((one) => !isThere(one))) {
    if (!mayInstall()) sayHow(wanted);
    else if (!install(wanted))
      console.error(`apt-get could not install it. Without it: skipped are ${wanted.neededBy}`);
  }
}

function isThere({ programs, usualPlaces }) {
  const folders = [...usualPlaces, ...(process.env.PATH ?? '').split(delimiter)];
  return programs.every((program) => folders.some((folder) => existsSync(join(folder, program))));
}

function mayInstall() {
  return existsSync('/etc/debian_version') && process.getuid?.() === 0;
}

function sayHow({ name, debian, elsewhere, neededBy }) {
  console.error(
    `Missing: ${name}, for ${neededBy}; these are skipped.\n` +
      `  Debian and Ubuntu: sudo apt-get install ${debian.join(' ')}; ${elsewhere}`,
  );
}

function install({ name, debian, beforehand, changes = [], startsServices = false }) {
  const all = [
    `installs ${debian.join(' ')} and what they need, by apt-get`,
    ...changes,
    ...(startsServices ? [`keeps services from starting meanwhile, by ${POLICY}`] : []),
  ];
  console.log(`${name} is missing. This machine is changed for it (Ctrl-C now keeps it as it is):`);
  for (const change of all) console.log(`  - ${change}`);
  const run = startsServices ? aptGetWithoutServices : aptGet;
  return aptGet('update') && (beforehand?.() ?? true) && run('install', '--no-install-recommends', ...debian);
}

const POLICY = '/usr/sbin/policy-rc.d';

function aptGetWithoutServices(...words) {
  return succeeded(runWithoutServices(aptGetCommand(words), { policy: POLICY, env: APT_ENVIRONMENT }));
}

/** Debian makes a cluster of its own and starts it; only the programs are wanted. */
function keepServerFromStarting() {
  const file = CLUSTER_SETTINGS;
  if (!aptGet('install', '--no-install-recommends', 'postgresql-common')) return false;
  if (!/^create_main_cluster\s*=/m.test(readFileSync(file, 'utf8'))) {
    appendFileSync(file, '\ncreate_main_cluster = false\n');
    console.log(`Set create_main_cluster = false in ${file}: no server is started`);
  }
  return true;
}

function aptGet(...words) {
  const [program, ...rest] = aptGetCommand(words);
  return succeeded(spawnSync(program, rest, { encoding: 'utf8', env: APT_ENVIRONMENT }));
}

const APT_ENVIRONMENT = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };

function aptGetCommand(words) {
  return ['apt-get', '--yes', '--quiet', ...words];
}

function succeeded({ status, stdout, stderr }) {
  if (status !== 0) console.error(`${stdout}${stderr}`);
  return status === 0;
}

function debianVersions(folder) {
  return list(folder).map((version) => join(folder, version, 'bin'));
}

function homebrewVersions(cellar) {
  return list(cellar)
    .filter((name) => /^(postgresql|libpq)/.test(name))
    .map((name) => join(cellar, name, 'bin'));
}

function list(folder) {
  return existsSync(folder) ? readdirSync(folder) : [];
}
