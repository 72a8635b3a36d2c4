import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findProjectDatabase } from '../../../src/operations/configuration/project-database.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';

test.each([
  [
    'DATABASE_URL="postgresql://me:p%40ss@localhost:5433/shop?schema=public"',
    'postgres://me:p%40ss@localhost:5433/shop',
  ],
  ['SQLALCHEMY_DATABASE_URI=postgresql+psycopg2://me@127.0.0.1/shop', 'postgres://me@127.0.0.1/shop'],
  ['export DATABASE_URL=mysql2://root@localhost/shop # Rails', 'mysql://root@localhost/shop'],
  [
    'DB_CONNECTION=pgsql\nDB_HOST=127.0.0.1\nDB_PORT=5432\nDB_DATABASE=shop\nDB_USERNAME=me\nDB_PASSWORD="a b"',
    'postgres://me:a%20b@127.0.0.1:5432/shop',
  ],
  ['DB_CONNECTION=pgsql\nDB_DATABASE=shop\nDB_PASSWORD=s3', 'postgres://:s3@127.0.0.1/shop'],
  ['DATABASE_URL=postgres://app:secret@db.example.com/shop', null],
  ['DATABASE_URL=postgres://localhost@db.example.com/shop', null],
  ['DATABASE_URL=sqlite:./dev.db', null],
  ['DB_CONNECTION=constructor\nDB_DATABASE=shop', null],
  ['DATABASE_URL=', null],
])('%j names the local database %s', async (text, url) => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, '.env'), `${text}\n`);
  expect((await findProjectDatabase(folder.path))?.url ?? null).toBe(url);
});

test('a file for development wins over .env, and a remote database in it does not hide a local one', async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, '.env'), 'DATABASE_URL=postgres://localhost/shop\n');
  await writeFile(join(folder.path, '.env.local'), 'DATABASE_URL=postgres://localhost/mine\n');
  await writeFile(join(folder.path, '.env.development.local'), 'DATABASE_URL=postgres://db.example.com/shop\n');
  const project = { file: '.env.local', key: 'DATABASE_URL', url: 'postgres://localhost/mine' };
  expect(await findProjectDatabase(folder.path)).toEqual(project);
});

test('a pipe, a device and a large file name no database', async () => {
  await using folder = await temporaryFolder();
  await symlink('/dev/zero', join(folder.path, '.env'));
  await promisify(execFile)('mkfifo', [join(folder.path, '.env.local')]);
  await writeFile(
    join(folder.path, '.env.development'),
    `${'#'.repeat(70_000)}\nDATABASE_URL=postgres://localhost/a\n`,
  );
  expect(await findProjectDatabase(folder.path)).toBeNull();
});

test('config/database.yml of Rails names the database, after .env files', async () => {
  await using folder = await temporaryFolder();
  await mkdir(join(folder.path, 'config'));
  const file = 'config/database.yml';
  const text = 'development:\n  adapter: trilogy\n  username: me\n  password: 0123\n  database: shop\n';
  await writeFile(join(folder.path, file), text);
  const project = { file, key: 'development.database', url: 'mysql://me:0123@127.0.0.1/shop' };
  expect(await findProjectDatabase(folder.path)).toEqual(project);
  await writeFile(join(folder.path, '.env'), 'DATABASE_URL=postgres://localhost/mine\n');
  expect(await findProjectDatabase(folder.path)).toMatchObject({ file: '.env' });
  await writeFile(join(folder.path, '.env'), '');
  await writeFile(join(folder.path, file), `${text}# <%= 1 %>\n`);
  expect(await findProjectDatabase(folder.path)).toBeNull();
});
