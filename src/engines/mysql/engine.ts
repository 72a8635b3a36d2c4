import type { Engine } from '../engine.ts';
import { wrapEngine } from '../wrap-engine.ts';
import { branches } from './branches/branches.ts';
import { dropCopies, findAllCopies, findCopies, planReset, reset } from './branches/reset-destination.ts';
import { countRows, listDatabases, listTables } from './catalog/browse.ts';
import { readSmallTables } from './catalog/read-small-tables.ts';
import { clientProgram } from './connection/client-program.ts';
import { withExplainedErrors } from './connection/explain-errors.ts';
import { identifyAffected } from './connection/identity.ts';
import { addressesOf, databaseOf } from './connection/location.ts';
import { probe } from './connection/probe.ts';
import { reportTools } from './connection/tools.ts';
import { parseMysqlUrl } from './connection/url.ts';
import { dump } from './dump/dump.ts';
import { inspectDestination, planRestore } from './restore/preflight.ts';
import { restore } from './restore/restore.ts';
import { checkScript, runScript } from './restore/script/script.ts';
import { readTable } from './restore/stored-table.ts';
import { readNeeds } from './restore/table-needs.ts';
import { chooseRestorer } from './restore/temporary-user.ts';
import { readColumns } from './sanitize/columns.ts';
import { readDefinitions } from './sanitize/definitions.ts';
import { digestColumns } from './sanitize/digests.ts';
import { runQuery } from './sanitize/query.ts';
import { scratchPlaces } from './sanitize/scratch-places.ts';
import { splitStatements } from './sanitize/statements.ts';
import { suggestQuery } from './sanitize/suggestion.ts';
import { removeTraces } from './sanitize/traces.ts';
import { tryReplacements } from './sanitize/trial.ts';
import { isSuperuser } from './server/superuser.ts';
import { checkDestination, createIndex } from './subset/destination.ts';
import { openSource } from './subset/source.ts';
import { findKept, undo } from './swap/undo.ts';

const engine: Engine = {
  id: 'mysql',
  capabilities: {
    whyNotKeepGoing: 'the swap of a MySQL database renames every table of the snapshot, so none may be missing',
    onlyProgram: null,
  },
  connect: {
    parseUrl: parseMysqlUrl,
    reportTools,
    probe,
    listDatabases,
    listTables,
    addressesOf,
    databaseOf,
    identifyAffected,
    isSuperuser,
    inspect: async (context, url) => (await inspectDestination(context, url)).destination,
    countRows,
    clientProgram,
    readSmallTables,
  },
  dump: { run: dump },
  restore: {
    readNeeds: (_context, request) => readNeeds(request),
    readTable: (_context, request) => readTable(request),
    plan: planRestore,
    chooseRestorer,
    run: restore,
    checkScript,
    runScript,
    findKept,
    undo,
    planReset,
    reset,
    findCopies,
    findAllCopies,
    dropCopies,
  },
  sanitize: {
    splitQuery: splitStatements,
    readColumns,
    digestColumns,
    readDefinitions: (_context, request) => readDefinitions(request),
    runQuery,
    removeTraces,
    suggestQuery,
    tryReplacements,
    scratchPlaces,
  },
  subset: { openSource, checkDestination, createIndex },
  branches,
};

export const mysql = wrapEngine(engine, ({ context, url }, work) => withExplainedErrors(url, () => work(context)));
