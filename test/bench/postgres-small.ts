/** `npm run bench -- postgres-small`: 20 tables of 3 MB in all, where starting programs takes the time. */
import { benchData } from '../helpers/databases/bench-data.ts';
import { benchPostgres } from '../helpers/postgres/postgres-bench.ts';

await benchPostgres({ statements: benchData({ megabytes: 3, tables: 18 }), build: 1.5, load: 2 });
