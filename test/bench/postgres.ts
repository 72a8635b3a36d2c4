/** `npm run bench -- postgres [MEGABYTES]`: generated data (default 1000 MB), half of it one table; then about half as much in 60 tables. */
import { benchData } from '../helpers/databases/bench-data.ts';
import { benchPostgres } from '../helpers/postgres/postgres-bench.ts';

const megabytes = Number(process.argv[2] ?? 1000);
const COLUMNS = 'account_id, kind, happened, amount, path, agent, trace';

await benchPostgres({
  statements: benchData({ megabytes }),
  build: 0.65,
  load: 0.7,
  changes: [
    {
      what: '1 % appended to the large table',
      statement: `INSERT INTO event SELECT id + 1000000000, ${COLUMNS} FROM event WHERE id <= (SELECT max(id) / 100 FROM event)`,
    },
    {
      what: '1 % of its rows changed, side by side',
      statement: `UPDATE event SET amount = amount + 1 WHERE id <= (SELECT count(*) / 100 FROM event)`,
    },
    {
      what: '1 % of its rows changed, everywhere',
      statement: 'UPDATE event SET amount = amount + 1 WHERE id % 100 = 7',
    },
  ],
});

await benchPostgres({
  statements: benchData({ megabytes: megabytes * 0.45, tables: 60, even: true }),
  build: 0.65,
  load: 0.8,
  reading: 1.5,
});
