import type { Engine } from '../engine.ts';
import { listDatabases, listTables } from './browse.ts';
import { explained } from './connection/explained.ts';
import { identifyAffected } from './connection/identity.ts';
import { addressesOf, databaseOf } from './connection/location.ts';
import { probe } from './connection/probe.ts';
import { parseMysqlUrl } from './connection/url.ts';
import { countRows } from './count-rows.ts';
import { dump } from './dump/dump.ts';
import { inspectDestination, planRestore } from './restore/preflight.ts';
import { restore } from './restore/restore.ts';
import { readNeeds } from './restore/table-needs.ts';
import { findKept, undo } from './restore/undo.ts';
import { runScript } from './script.ts';
import { isSuperuser } from './superuser.ts';
import { reportTools } from './tools.ts';

export const mysql: Engine = {
  id: 'mysql',
  parseUrl: parseMysqlUrl,
  reportTools,
  probe,
  listDatabases: (context, url) => explained(url, () => listDatabases(context, url)),
  listTables: (context, url) => explained(url, () => listTables(context, url)),
  addressesOf: (_context, url) => addressesOf(url),
  databaseOf: (_context, url) => databaseOf(url),
  identifyAffected: (context, url) => explained(url, () => identifyAffected(context, url)),
  dump: (context, request) => explained(request.url, () => dump(context, request)),
  readNeeds: (_context, request) => readNeeds(request),
  planRestore: (context, request) => explained(request.url, () => planRestore(context, request)),
  isSuperuser: (context, url) => explained(url, () => isSuperuser(context, url)),
  restore: (context, run) => explained(run.url, () => restore(context, run)),
  whyNotKeepGoing: 'the swap of a MySQL database renames every table of the snapshot, so none may be missing',
  inspect: (context, url) => explained(url, async () => (await inspectDestination(context, url)).destination),
  alwaysProgram: false,
  scriptsRollBack: false,
  runScript: (context, run) => explained(run.url, () => runScript(context, run)),
  countRows: (context, live) => explained(live.url, () => countRows(context, live)),
  findKept: (context, url) => explained(url, () => findKept(context, url)),
  undo: (context, url) => explained(url, () => undo(context, url)),
};
