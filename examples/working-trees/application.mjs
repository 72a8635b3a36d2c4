// Reads .env of the current folder as the frameworks do, writes a row, and prints the database and its rows.
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import pg from 'pg';

const variables = parseEnv(readFileSync('.env', 'utf8'));
const { DATABASE_URL, DB_HOST, DB_PORT, DB_DATABASE, DB_USERNAME, DB_PASSWORD } = variables;
const client = new pg.Client(
  DATABASE_URL
    ? { connectionString: DATABASE_URL }
    : { host: DB_HOST, port: Number(DB_PORT), database: DB_DATABASE, user: DB_USERNAME, password: DB_PASSWORD },
);
await client.connect();
await client.query('INSERT INTO person SELECT max(id) + 1 FROM person');
const { rows } = await client.query('SELECT current_database() AS database, count(*)::int AS rows FROM person');
await client.end();
process.stdout.write(`${JSON.stringify(rows[0])}\n`);
