import type { Engine } from '../engine.ts';
import { listDatabases, listSchemas, listTables } from './browse.ts';
import { countRows } from './count-rows.ts';
import { dump } from './dump.ts';
import { inspectDestination, planRestore } from './preflight.ts';
import { probe } from './probe.ts';
import { restore } from './restore.ts';
import { sameDatabaseAs } from './same-database.ts';
import { runScript } from './script.ts';
import { reportTools } from './tools.ts';
import { findKept, undo } from './undo.ts';
import { parsePostgresUrl } from './url.ts';

export const postgres: Engine = {
  id: 'postgres',
  schemes: ['postgres', 'postgresql', 'pgdocker'],
  parseUrl: parsePostgresUrl,
  reportTools,
  probe,
  listDatabases,
  listSchemas,
  listTables,
  sameDatabaseAs,
  dump,
  planRestore,
  restore,
  inspect: async (context, url) => (await inspectDestination(context, url)).destination,
  scriptsRollBack: true,
  runScript,
  countRows,
  findKept,
  undo,
};
