import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

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
    onlyFor: 'pretest',
  },
];

/** Installs what is missing on Debian as root; elsewhere says what is missing and where to get it. Never fails. */
export function installSystemPackages() {
  const script = process.env.npm_lifecycle_event ?? '';
  for (const wanted of systemPackages.filter((one) => script.startsWith(one.onlyFor ?? '') && !isThere(one))) {
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

function install({ name, debian, beforehand }) {
  console.log(`Installing ${name}: apt-get install ${debian.join(' ')}`);
  return aptGet('update') && (beforehand?.() ?? true) && aptGet('install', '--no-install-recommends', ...debian);
}

/** Debian makes a cluster of its own and starts it; only the programs are wanted. */
function keepServerFromStarting() {
  const file = '/etc/postgresql-common/createcluster.conf';
  if (!aptGet('install', '--no-install-recommends', 'postgresql-common')) return false;
  if (!/^create_main_cluster\s*=/m.test(readFileSync(file, 'utf8'))) {
    appendFileSync(file, '\ncreate_main_cluster = false\n');
    console.log(`Set create_main_cluster = false in ${file}: no server is started`);
  }
  return true;
}

function aptGet(...words) {
  const { status, stdout, stderr } = spawnSync('apt-get', ['--yes', '--quiet', ...words], {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
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
