import { execFileSync, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Connection, createConnection } from 'mysql2/promise';
import { unprivilegedUser } from '../../../src/engines/shared/server/unprivileged-user.ts';
import { type ImageEngine, rowsFor, tablesOf } from './image-engine.ts';
import { makeOwned } from './make-owned.ts';

/** One small log, which a start does not resize. */
const LOG = ['--innodb-log-file-size=4M', '--innodb-undo-tablespaces=0'];
const LOAD = ['--innodb-log-file-size=1G', '--innodb-buffer-pool-size=1G', '--innodb-undo-tablespaces=0'];

const DEFINITION =
  '(id bigint PRIMARY KEY, customer integer, amount decimal(10, 2), changed datetime, note varchar(100))';

const generated = (table: number, rows: number): string =>
  `SELECT seq, CRC32(seq + ${table}) % 100000, (seq % 100000) / 100, '2024-01-01' + INTERVAL seq SECOND,
     CONCAT(MD5(seq), MD5(seq + ${table})) FROM seq_1_to_${rows}`;

export async function mariadbEngine(): Promise<ImageEngine> {
  const user = await unprivilegedUser('mysql');
  const start = async (data: string, flags: string[]) => {
    const socketPath = join(dirname(data), `socket-${process.pid}`);
    const words = [
      '--no-defaults',
      `--datadir=${data}`,
      `--socket=${socketPath}`,
      '--skip-networking',
      '--skip-grant-tables',
    ];
    const started = performance.now();
    const child = spawn('mariadbd', [...words, '--innodb-flush-method=nosync', ...flags], { stdio: 'ignore', ...user });
    const ended = new Promise((resolve) => child.once('close', resolve));
    const connection = await connected(socketPath, () => child.exitCode !== null);
    return {
      startMs: performance.now() - started,
      async query(statement: string) {
        await connection.query(statement);
      },
      async stop() {
        await connection.end();
        child.kill('SIGTERM');
        await ended;
      },
    };
  };
  return {
    name: 'MariaDB',
    user,
    one: (rows) => `SELECT * FROM images.t_0 WHERE id = ${Math.round(rows / 2)}`,
    count: 'SELECT count(*), sum(amount) FROM images.t_0',
    start: (data) => start(data, LOG),
    async make(data, megabytes) {
      makeOwned(user, dirname(data));
      const words = ['--no-defaults', `--datadir=${data}`, '--skip-test-db', '--innodb-undo-tablespaces=0'];
      execFileSync('mariadb-install-db', words, { stdio: 'ignore', ...user });
      const server = await start(data, LOAD);
      await server.query('CREATE DATABASE images');
      await server.query('USE images');
      await server.query('SET unique_checks = 0, foreign_key_checks = 0');
      for (const statement of tablesOf((at) => [
        `CREATE TABLE images.t_${at} ${DEFINITION}`,
        `INSERT INTO images.t_${at} ${generated(at, rowsFor(megabytes))}`,
        `ALTER TABLE images.t_${at} ADD KEY (customer), ADD KEY (changed)`,
        `ANALYZE TABLE images.t_${at}`,
      ]).flat())
        await server.query(statement);
      await server.query('SET GLOBAL innodb_fast_shutdown = 0');
      await server.stop();
      // Leaves the small log.
      await (await start(data, LOG)).stop();
    },
  };
}

async function connected(socketPath: string, isOver: () => boolean): Promise<Connection> {
  while (true) {
    try {
      return await createConnection({ socketPath, user: 'root' });
    } catch (error) {
      if (isOver()) throw error;
      await setTimeout(5);
    }
  }
}
