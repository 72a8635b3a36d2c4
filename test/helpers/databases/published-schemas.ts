import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { debianPackage } from './debian-packages.ts';

/** The schema of a program that a package of Debian brings. */
export interface PublishedSchema {
  name: string;
  package: string;
  /** Scripts in order, in the package's files; a folder stands for the `.sql` files in it. */
  scripts: string[];
  /** What stands before the scripts. */
  before?: string;
  /** How many tables it has at least. */
  tables: number;
}

/** The largest that Debian's packages bring as SQL. */
export const POSTGRES_SCHEMAS: PublishedSchema[] = [
  {
    name: 'zabbix',
    package: 'zabbix-server-pgsql',
    scripts: ['schema', 'images', 'data'].map((part) => `usr/share/zabbix-server-pgsql/${part}.sql.gz`),
    tables: 170,
  },
  { name: 'kea', package: 'kea-admin', scripts: ['usr/share/kea/scripts/pgsql/dhcpdb_create.pgsql'], tables: 50 },
  {
    name: 'icinga',
    package: 'icinga2-ido-pgsql',
    scripts: ['usr/share/icinga2-ido-pgsql/schema/pgsql.sql'],
    tables: 50,
  },
  {
    name: 'ledgersmb',
    package: 'ledgersmb',
    scripts: ['usr/share/ledgersmb/sql/Pg-database.sql', 'usr/share/ledgersmb/sql/modules'],
    before: 'SET client_min_messages = error;',
    tables: 140,
  },
  {
    name: 'mediawiki',
    package: 'mediawiki',
    scripts: ['tables-generated.sql', 'tables.sql'].map((part) => `usr/share/mediawiki/maintenance/postgres/${part}`),
    before: 'CREATE SCHEMA mediawiki; SET search_path = mediawiki, public;',
    tables: 50,
  },
];

export const MYSQL_SCHEMAS: PublishedSchema[] = [
  {
    name: 'zabbix',
    package: 'zabbix-server-mysql',
    scripts: ['schema', 'images', 'data'].map((part) => `usr/share/zabbix-server-mysql/${part}.sql.gz`),
    tables: 170,
  },
  { name: 'kea', package: 'kea-admin', scripts: ['usr/share/kea/scripts/mysql/dhcpdb_create.mysql'], tables: 50 },
  {
    name: 'icinga',
    package: 'icinga2-ido-mysql',
    scripts: ['usr/share/icinga2-ido-mysql/schema/mysql.sql'],
    tables: 50,
  },
  {
    name: 'mediawiki',
    package: 'mediawiki',
    scripts: ['tables-generated.sql', 'tables.sql'].map((part) => `usr/share/mediawiki/maintenance/${part}`),
    tables: 50,
  },
];

/** All scripts of the schema in one file. */
export async function writeSchema({ package: name, scripts, before }: PublishedSchema, file: string): Promise<void> {
  const folder = await debianPackage(name);
  const texts: Buffer[] = [Buffer.from(`${before ?? ''}\n`)];
  for (const script of scripts) for (const path of await filesOf(join(folder, script))) texts.push(await read(path));
  await writeFile(file, Buffer.concat(texts.flatMap((text) => [text, Buffer.from('\n')])), { mode: 0o644 });
}

async function filesOf(path: string): Promise<string[]> {
  if (/\.[a-z]+$/.test(path)) return [path];
  const names = await readdir(path);
  return names
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => join(path, name));
}

async function read(path: string): Promise<Buffer> {
  const content = await readFile(path);
  return path.endsWith('.gz') ? gunzipSync(content) : content;
}
