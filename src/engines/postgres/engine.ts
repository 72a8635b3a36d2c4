import type { Engine } from '../engine.ts';
import { listDatabases, listSchemas, listTables } from './browse.ts';
import { identifyAffected } from './connection/identity.ts';
import { addressesOf, databaseOf } from './connection/location.ts';
import { probe } from './connection/probe.ts';
import { parsePostgresUrl } from './connection/url.ts';
import { countRows } from './count-rows.ts';
import { dump } from './dump/dump.ts';
import { inspectDestination, planRestore } from './restore/preflight.ts';
import { restore } from './restore/restore.ts';
import { readNeeds } from './restore/table-needs.ts';
import { findKept, undo } from './restore/undo.ts';
import { runScript } from './script.ts';
import { isSuperuser } from './superuser.ts';
import { reportTools } from './tools.ts';

export const postgres: Engine = {
  id: 'postgres',
  parseUrl: parsePostgresUrl,
  reportTools,
  probe,
  listDatabases,
  listSchemas,
  listTables,
  addressesOf,
  databaseOf,
  identifyAffected,
  dump,
  readNeeds,
  planRestore,
  isSuperuser,
  restore,
  whyNotKeepGoing: null,
  inspect: async (context, url) => (await inspectDestination(context, url)).destination,
  alwaysProgram: true,
  scriptsRollBack: true,
  runScript,
  countRows,
  findKept,
  undo,
};
